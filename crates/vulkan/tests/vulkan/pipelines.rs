//! Pipelines: made once, bounded, and a file on disk that may be anything.

use crate::rig::affine::pipelines;
use crate::rig::{affine, device, fine, launch, numbers, read, run};
use ferrotensor_core::Code;
use ferrotensor_core::backend::{Backend, Launch};
use ferrotensor_core::{Error, Result};
use ferrotensor_gpu::{Program, Recorder};
use ferrotensor_vulkan::{CachePlace, Options};
use std::path::Path;

fn one_launch(folder: &Path) -> bool {
    let Some(device) = device(Options { cache: CachePlace::Folder(folder.into()), ..Options::default() }) else {
        return false;
    };
    let x = numbers(&device, (0..100).map(|n| n as f32));
    let y = device.alloc(400).unwrap();
    fine(&run(&device, vec![affine(2.0, 1.0, 100, &x, &y)]));
    assert_eq!(read(&device, &y, 100)[99], 199.0);
    true
}

#[test]
fn a_cache_file_that_is_corrupt_is_ignored_and_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    if !one_launch(folder.path()) {
        return;
    }
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let whole = std::fs::read(&files[0]).unwrap();
    let garbage: [&[u8]; 4] = [b"", b"nothing of the kind", &whole[..whole.len() - 1], &[0xFF; 4096]];
    for bytes in garbage {
        std::fs::write(&files[0], bytes).unwrap();
        one_launch(folder.path());
        assert_eq!(std::fs::read(&files[0]).unwrap()[..28], whole[..28], "written anew");
    }
}

#[test]
fn a_process_that_makes_nothing_new_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    if !one_launch(folder.path()) {
        return;
    }
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let written = std::fs::metadata(&file).unwrap().modified().unwrap();
    one_launch(folder.path());
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), written);
}

#[test]
fn a_folder_that_cannot_be_made_is_ignored() {
    let file = tempfile::NamedTempFile::new().unwrap();
    one_launch(&file.path().join("below a file"));
}

/// Asks for pipelines of modules that differ in a constant.
struct Many;

impl Program for Many {
    fn record(&self, recorder: &mut dyn Recorder, _: &Launch) -> Result<()> {
        // A name nobody refers to makes another module: OpName, target, 4 letters, end.
        let named = |n: u32| {
            let (head, rest) = crate::rig::affine::WORDS.split_at(name_place());
            [head, &[4 << 16 | 5, 4, 0x6161_6161 + (n % 16) + (n / 16 % 16) * 256 + (n / 256) * 65536, 0], rest].concat()
        };
        let first = pipelines(recorder).get(&named(0), 2)?;
        for n in 0..1100 {
            pipelines(recorder).get(&named(n), 2)?;
            // Used again and again: it stays.
            let again = pipelines(recorder).get(&named(0), 2)?;
            if !std::sync::Arc::ptr_eq(&first, &again) {
                return Err(Error::internal("the first pipeline was made twice"));
            }
        }
        if pipelines(recorder).len() != 1024 {
            return Err(Error::internal(format!("{} pipelines are kept", pipelines(recorder).len())));
        }
        Ok(())
    }
}

/// Where names are allowed: before the first decoration.
fn name_place() -> usize {
    let (words, mut at) = (crate::rig::affine::WORDS, 5);
    while words[at] & 0xFFFF != 71 && words[at] & 0xFFFF != 72 {
        at += (words[at] >> 16) as usize;
    }
    at
}

#[test]
fn pipelines_in_memory_are_bounded_and_the_used_ones_stay() {
    let Some(device) = device(Options::default()) else { return };
    let x = device.alloc(4).unwrap();
    let y = device.alloc(4).unwrap();
    fine(&run(&device, vec![launch(Many, &x, &y)]));
}

/// Hands garbage to the driver layer.
struct Broken(Vec<u32>);

impl Program for Broken {
    fn record(&self, recorder: &mut dyn Recorder, _: &Launch) -> Result<()> {
        pipelines(recorder).get(&self.0, 2).map(drop)
    }
}

#[test]
fn a_module_that_is_not_one_is_an_error_and_no_panic() {
    let Some(device) = device(Options::default()) else { return };
    let x = device.alloc(4).unwrap();
    let y = device.alloc(4).unwrap();
    let words = crate::rig::affine::WORDS;
    for broken in [vec![], vec![1, 2, 3], words[..5].to_vec(), words[..words.len() / 2].to_vec()] {
        let outcome = run(&device, vec![launch(Broken(broken), &x, &y)]);
        let error = outcome.failed.into_iter().map(|(_, e)| e).chain(outcome.lost).next().expect("an error");
        assert_eq!(error.code, Code::Internal, "{error}");
    }
    let x = numbers(&device, (0..100).map(|n| n as f32));
    let y = device.alloc(400).unwrap();
    fine(&run(&device, vec![affine(2.0, 1.0, 100, &x, &y)]));
}
