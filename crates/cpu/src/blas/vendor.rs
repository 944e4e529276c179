//! Whose BLAS there are: the names of their files, and of the functions that say what they are and how many threads they take.

use super::library::Library;

/// How a library says something.
#[derive(Clone, Copy)]
pub enum Says {
    /// By a function that returns a text.
    Text(&'static str),
    /// By one that names a number, and one that gives the number's text.
    TextOf(&'static str, &'static str),
    /// By one that fills a buffer.
    Buffer(&'static str),
    /// Not at all.
    Nothing,
}

/// A vendor.
pub struct Vendor {
    /// In FERROTENSOR_BLAS.
    pub name: &'static str,
    /// As its makers write it.
    pub title: &'static str,
    /// Names of its library on this system, the likeliest first.
    pub files: &'static [&'static str],
    /// A function that only this library has, and that says its version.
    version: Says,
    /// The kernels it chose.
    core: Says,
    /// The function that sets the number of threads.
    threads: Option<&'static str>,
}

const fn files(
    linux: &'static [&'static str],
    macos: &'static [&'static str],
    windows: &'static [&'static str],
) -> &'static [&'static str] {
    if cfg!(target_os = "macos") {
        macos
    } else if cfg!(windows) {
        windows
    } else {
        linux
    }
}

/// In the order in which they are looked for.
static VENDORS: [Vendor; 4] = [
    Vendor {
        name: "accelerate",
        title: "Accelerate",
        files: files(&[], &["/System/Library/Frameworks/Accelerate.framework/Accelerate"], &[]),
        version: Says::Nothing,
        core: Says::Nothing,
        threads: None,
    },
    Vendor {
        name: "mkl",
        title: "Intel MKL",
        files: files(
            &["libmkl_rt.so.2", "libmkl_rt.so.3", "libmkl_rt.so"],
            &["libmkl_rt.2.dylib"],
            &["mkl_rt.2.dll", "mkl_rt.dll"],
        ),
        version: Says::Buffer("mkl_get_version_string"),
        core: Says::Nothing,
        threads: Some("MKL_Set_Num_Threads"),
    },
    Vendor {
        name: "openblas",
        title: "OpenBLAS",
        files: files(
            &["libopenblas.so.0", "libopenblas.so", "libopenblas64_.so.0"],
            &[
                "libopenblas.0.dylib",
                "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
                "/usr/local/opt/openblas/lib/libopenblas.dylib",
            ],
            &["libopenblas.dll", "openblas.dll"],
        ),
        version: Says::Text("openblas_get_config"),
        core: Says::Text("openblas_get_corename"),
        threads: Some("openblas_set_num_threads"),
    },
    Vendor {
        name: "blis",
        title: "BLIS",
        files: files(
            &["libblis.so.4", "libblis.so.3", "libblis.so"],
            &["libblis.4.dylib", "libblis.dylib"],
            &["libblis.4.dll", "libblis.dll"],
        ),
        version: Says::Text("bli_info_get_version_str"),
        core: Says::TextOf("bli_arch_query_id", "bli_arch_string"),
        threads: Some("bli_thread_set_num_threads"),
    },
];

/// Those that this system may have.
pub fn here() -> impl Iterator<Item = &'static Vendor> + Clone {
    VENDORS.iter().filter(|vendor| !vendor.files.is_empty())
}

/// Whose library this is; `None` for one that says nothing we know.
pub fn of(library: &Library) -> Option<&'static Vendor> {
    let is_named = |vendor: &&Vendor| vendor.files.contains(&library.file.as_str());
    here().find(|vendor| vendor.version.ask(library).is_some()).or_else(|| here().find(is_named))
}

impl Says {
    fn ask(self, library: &Library) -> Option<String> {
        match self {
            // Builds of 64-bit integers mark all their names.
            Says::Text(name) => library.text(name).or_else(|| library.text(&format!("{name}64_"))),
            Says::TextOf(number, name) => library.text_of(number, name),
            Says::Buffer(name) => library.text_into(name),
            Says::Nothing => None,
        }
    }
}

impl Vendor {
    /// The library's version: the first word of what it says that begins with a digit.
    pub fn version(&self, library: &Library) -> Option<String> {
        let said = self.version.ask(library)?;
        let word = said.split([' ', ',']).find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        Some(word.map_or(said.clone(), str::to_owned))
    }

    /// The kernels that the library chose.
    pub fn core(&self, library: &Library) -> Option<String> {
        self.core.ask(library)
    }

    /// Whether it can be told how many threads to take.
    pub fn has_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// Sets the threads that the library takes.
    pub fn set_threads(&self, library: &Library, count: usize) {
        if let Some(set) = self.threads {
            library.set_count(set, count);
            library.set_count(&format!("{set}64_"), count);
        }
    }
}
