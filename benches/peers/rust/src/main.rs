//! The Rust side of the benches: `ferrotensor-bench-peers LIBRARY` answers JSON lines as peers/peer.py does. A call is a name that the
//! library's module knows; of `limits`, what the machine could do at best.

mod candle;
mod faer;
mod limits;
mod products;
mod protocol;
mod vector;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let library = match name.as_str() {
        "candle" => candle::LIBRARY,
        "faer" => faer::LIBRARY,
        "gemm" => products::GEMM,
        "ndarray" => products::NDARRAY,
        "limits" => limits::LIBRARY,
        _ => {
            eprintln!("no library '{name}'");
            std::process::exit(1);
        }
    };
    protocol::serve(&library);
}
