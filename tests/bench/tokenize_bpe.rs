// How fast github's bpe crate with its tokenizer crate encodes: bpe-rate ENCODING TEXTS SECONDS, texts with a NUL behind each. Prints
// megabytes a second, the best of the rounds that fit in the time, three or more; by the thread's CPU time as tokenize.c does.
use std::time::Instant;

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-9
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let tokenizer = match arguments[1].as_str() {
        "cl100k_base" => bpe_openai::cl100k_base(),
        _ => bpe_openai::o200k_base(),
    };
    let data = std::fs::read_to_string(&arguments[2]).unwrap();
    let texts: Vec<&str> = data.split_terminator('\0').collect();
    let size: usize = texts.iter().map(|t| t.len()).sum();
    let seconds: f64 = arguments[3].parse().unwrap();
    let begun = Instant::now();
    let (mut best, mut rounds, mut tokens) = (0.0f64, 0, 0);
    while rounds < 3 || begun.elapsed().as_secs_f64() < seconds {
        let start = cpu_seconds();
        tokens = texts.iter().map(|t| tokenizer.encode(t).len()).sum();
        best = best.max(size as f64 / (cpu_seconds() - start) / 1e6);
        rounds += 1;
    }
    println!("{:.2} {}", best, tokens);
}
