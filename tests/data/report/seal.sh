# shellcheck shell=sh
# seal HEADER BODY: the stream that they make, with its trailer.
seal() {
	cat "$1" "$2"
	printf '{"end":{"lines":%s,"sha256":"%s"}}\n' "$(wc -l <"$2" | tr -d ' ')" "$(sha256sum <"$2" | cut -d ' ' -f 1)"
}
