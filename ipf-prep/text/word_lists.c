#include "text/word_lists.h"

const char *const word_lists[WORD_CLASSES] = {
	[NOUN] =
		"acorn anchor apple archive argument arrow atlas autumn balcony barley barrel basket beacon bicycle blanket "
		"boat book bottle branch bread breeze brick bridge broom bucket button cabin cable camera candle canvas "
		"carpet cart castle cellar chair chapter chimney church circle cliff clock cloud coat coin column compass "
		"concert copper corner cottage cousin cradle curtain cushion dance daughter desk diary dinner doctor door "
		"drawer dream drum echo edge engine envelope evening fabric farm feather fence ferry fiddle field figure fire "
		"flag flour forest fountain fox frame friend garden gate ghost glass glove goat grain granite grass guest "
		"guitar hammer harbour harvest hat hedge helmet hill holiday honey horse hotel hour house idea island jacket "
		"jar journal journey kettle key kitchen kite ladder lake lamp lantern leaf ledger lemon letter library "
		"lighthouse linen lock loom machine magnet map market marsh meadow meal melody mill mirror monument moon "
		"morning mountain museum needle neighbour nest net newspaper night notebook novel oak oar object ocean orange "
		"orchard oven owl page painting palace paper parcel pasture path pattern pebble pencil piano picture pigeon "
		"pillow pipe pitcher plan planet plate pocket poem pond poster potato promise puzzle question quilt rabbit "
		"radio rain raven recipe ribbon riddle river road roof room root rope rumour saddle sail salt sand saucer "
		"scarf school season secret sentence shadow shelf shell ship shoe shop signal silver sister sketch sleeve "
		"snow soldier song soup spade sparrow spoon spring square stable stair stamp star station statue stone storm "
		"story stove stranger street string student summer sweater table tailor teacher temple tent theatre thread "
		"thunder ticket timber tower towel train tree trumpet tunnel umbrella uncle valley vase village violin "
		"visitor voice wagon wall walnut water wheel whistle willow window winter wolf wool word workshop yard",
	[ADJECTIVE] =
		"amber ancient angry awkward bare bitter black blue bold brave bright brief broad broken brown busy calm "
		"careful cautious cheap cheerful clean clear clever cold common cool copper crooked curious damp dark deep "
		"delicate distant dry dull dusty eager early eastern empty endless faded faint familiar famous fine flat "
		"foreign forgotten fragile fresh gentle golden grand grateful green grey half-open happy hasty heavy hidden "
		"high hollow honest hopeful huge humble hungry idle important jolly keen kind large last late lazy light "
		"little local lonely long loose lost loud lovely low lucky mild missing modern modest muddy narrow nearby "
		"neat new nervous next noble noisy northern odd old orange pale patient plain polite poor precious private "
		"proud purple quick quiet rare ready red rich rough round royal rusty sad safe secret serious shallow sharp "
		"short silent silver simple sleepy slender slow small smooth soft solid southern spare square steep still "
		"strange strong sudden sweet tall tame tender thick thin tidy timid tiny tired tough ugly uneven useful usual "
		"vast violet warm weary western wet white wide wild windy wise wooden yellow young",
	[VERB] =
		"admired adored answered asked avoided borrowed bought bound broke brought built buried called carried caught "
		"chose cleaned climbed closed collected copied counted covered crossed described described discovered drew "
		"dropped earned emptied enjoyed examined expected explained explored fed filled finished fixed followed "
		"forgave forgot found gathered gave greeted guarded guessed guided heard held helped hid hired imagined "
		"inspected introduced invited joined kept knew labelled left lent liked lit lost loved made measured mended "
		"mentioned met missed moved named needed noticed observed offered opened ordered owned packed painted passed "
		"photographed planned planted praised prepared promised pulled pushed questioned read rebuilt received "
		"recognised remembered repaired repeated replaced returned saved saw searched sent served shared shook showed "
		"signed sketched sold sought spoiled started stole stored studied surprised swept thanked took touched traded "
		"trusted turned understood used visited wanted washed watched weighed welcomed won wrapped wrote",
	[ADVERB] =
		"again almost already always badly barely bravely briefly calmly carefully certainly clearly daily early "
		"eagerly easily evenly exactly finally firmly frankly gently gladly gradually happily hardly hastily honestly "
		"instead kindly lately lightly loudly mostly nearly neatly never nicely often openly partly patiently perhaps "
		"plainly politely proudly quickly quietly rarely really sadly safely seldom sharply silently simply slowly "
		"softly sometimes soon strangely suddenly surely tenderly together usually warmly wisely",
	[NAME] =
		"Ada Agnes Alan Albert Alice Amir Anna Arthur Astrid Beatrice Bruno Carla Cecil Chen Clara Daniel Darius Dora "
		"Edith Edwin Elena Elias Emma Erik Esther Farid Felix Fiona Flora Frida George Grace Greta Hamid Hannah "
		"Harold Hector Helen Henry Hugo Ida Ines Ingrid Iris Ivan Jack Jana Jasper Joan Jonas Josef Julia Karim "
		"Kasper Kurt Laila Lars Laura Leo Lina Louis Lucy Magnus Mara Marcus Maria Martha Mateo Milan Mina Miriam "
		"Nadia Nina Noor Olga Olive Omar Oscar Otto Paula Pedro Petra Priya Ravi Rita Robert Rosa Ruth Samir Selma "
		"Simon Sofia Stefan Sven Tariq Thea Tomas Ursula Vera Victor Viola Walter Yara Yusuf Zora",
	[DETERMINER] = "the the the the that this one another some every each her his their our my your",
	[PREPOSITION] =
		"above across after against along among around before behind below beneath beside between beyond by during "
		"for from in inside into near on outside over past through toward under until upon with within without",
	[CONJUNCTION] = "and but so while because although before after since until yet or",
	[PLACE] =
		"Aberdeen Amsterdam Athens Basel Bergen Berlin Bilbao Bologna Bremen Bristol Bruges Cairo Cardiff Cork Dakar "
		"Delft Dover Dublin Durham Exeter Florence Geneva Genoa Ghent Granada Graz Hamburg Helsinki Jaipur Kiel "
		"Krakow Kyoto Leeds Leipzig Leuven Lima Linz Lisbon London Lucerne Lyon Madras Malmo Milan Nairobi Nantes "
		"Naples Odense Oporto Oslo Oxford Padua Paris Parma Perth Pisa Prague Quito Riga Rome Rouen Salzburg Seville "
		"Siena Sofia Tampere Toledo Trieste Tunis Turin Turku Utrecht Venice Verona Vienna Vilnius Warsaw Weimar York "
		"Zagreb Zurich",
};
