//! Pipelines of an opened device: made from SPIR-V words, kept in memory by these, and on disk by the driver's own cache.

use crate::disk_cache::{CachePlace, DiskCache};
use crate::errors;
use crate::parting::Given;
use crate::spirv::{self, Modes};
use ferrotensor_core::{Error, Result};
use ferrotensor_gpu::code::Code;
use ferrotensor_gpu::{Compiled, Compiler};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vulkano::descriptor_set::layout::{
    DescriptorSetLayout, DescriptorSetLayoutBinding, DescriptorSetLayoutCreateFlags, DescriptorSetLayoutCreateInfo,
    DescriptorType,
};
use vulkano::device::Device;
use vulkano::pipeline::compute::ComputePipelineCreateInfo;
use vulkano::pipeline::layout::PipelineLayoutCreateInfo;
use vulkano::pipeline::{ComputePipeline, PipelineLayout, PipelineShaderStageCreateInfo};
use vulkano::shader::{ShaderModule, ShaderModuleCreateInfo, ShaderStages};

/// Pipelines in memory. A program of many shapes has some dozens; a driver keeps 10 to 100 KB for each.
const MOST: usize = 1024;

/// A compiled kernel with the layout of its bindings.
pub struct Pipeline {
    driver: Given<Arc<ComputePipeline>>,
    /// The device's pipelines have it too.
    layout: Arc<PipelineLayout>,
    buffers: u32,
}

impl Pipeline {
    /// How many storage buffers it binds.
    pub fn buffers(&self) -> u32 {
        self.buffers
    }

    pub(crate) fn driver(&self) -> &ComputePipeline {
        &self.driver
    }

    pub(crate) fn layout(&self) -> &PipelineLayout {
        &self.layout
    }

    pub(crate) fn is_of(&self, device: &Arc<Device>) -> bool {
        Arc::ptr_eq(self.driver.device(), device)
    }
}

struct Entry {
    words: Box<[u32]>,
    buffers: u32,
    pipeline: Arc<Pipeline>,
    used: u64,
}

#[derive(Default)]
struct Made {
    /// By hash; the words decide.
    entries: HashMap<u64, Vec<Entry>>,
    count: usize,
    clock: u64,
}

/// The pipelines of one opened device.
pub struct Pipelines {
    device: Arc<Device>,
    modes: Modes,
    layouts: Mutex<BTreeMap<u32, Arc<PipelineLayout>>>,
    hasher: RandomState,
    made: Mutex<Made>,
    /// Made by the driver since the device was opened, those forgotten since counted too.
    compiled: AtomicUsize,
    disk: DiskCache,
}

impl Pipelines {
    /// No pipelines yet, but what the disk has. Those of kernels ask for these modes.
    pub fn new(device: &Arc<Device>, modes: Modes, place: &CachePlace) -> Pipelines {
        Pipelines {
            device: Arc::clone(device),
            modes,
            layouts: Mutex::default(),
            hasher: RandomState::new(),
            made: Mutex::default(),
            compiled: AtomicUsize::new(0),
            disk: DiskCache::open(device, place),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pipeline of a module whose only entry point is a compute shader, with its argument block at binding 0 and
    /// `buffers` storage buffers from binding 1 on, in set 0.
    ///
    /// # Errors
    /// `Code::Internal` for a module that is not valid here, the driver's otherwise.
    pub fn get(&self, words: &[u32], buffers: u32) -> Result<Arc<Pipeline>> {
        let hash = self.hasher.hash_one((words, buffers));
        if let Some(pipeline) = self.lock().find(hash, words, buffers) {
            return Ok(pipeline);
        }
        // Compiled outside the lock: 1 to 100 ms. Two threads may compile the same; the first one's is kept.
        let pipeline = Arc::new(self.make(words, buffers)?);
        self.compiled.fetch_add(1, Relaxed);
        let kept = self.lock().keep(hash, words, buffers, pipeline);
        self.disk.note_new();
        Ok(kept)
    }

    /// How many are in memory.
    pub fn len(&self) -> usize {
        self.lock().count
    }

    /// How many the driver made, those that are forgotten again counted too.
    pub fn compiled(&self) -> usize {
        self.compiled.load(Relaxed)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes new pipelines to disk when it is time.
    pub(crate) fn save_when_due(&self) {
        self.disk.save_when_due();
    }

    /// Writes new pipelines to disk now.
    pub(crate) fn save(&self) {
        self.disk.save();
    }

    fn make(&self, words: &[u32], buffers: u32) -> Result<Pipeline> {
        let layout = self.layout(buffers)?;
        // SAFETY: the words are printed of a kernel's code, which stays within its bindings; vulkano checks their
        // form and capabilities.
        let module = unsafe { ShaderModule::new(Arc::clone(&self.device), ShaderModuleCreateInfo::new(words)) }
            .map_err(|e| errors::driver("a shader module", e))?;
        let entry = module.single_entry_point().ok_or_else(|| Error::internal("a module without its one entry point"))?;
        let stage = PipelineShaderStageCreateInfo::new(entry);
        let info = ComputePipelineCreateInfo::stage_layout(stage, Arc::clone(&layout));
        let driver = ComputePipeline::new(Arc::clone(&self.device), self.disk.driver(), info)
            .map_err(|e| errors::driver("a pipeline", e))?;
        Ok(Pipeline { driver: Given::new(driver), layout, buffers })
    }

    fn layout(&self, buffers: u32) -> Result<Arc<PipelineLayout>> {
        let mut layouts = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = layouts.get(&buffers) {
            return Ok(Arc::clone(layout));
        }
        let binding = |kind| DescriptorSetLayoutBinding {
            stages: ShaderStages::COMPUTE,
            ..DescriptorSetLayoutBinding::descriptor_type(kind)
        };
        let kind = |n| if n == 0 { DescriptorType::UniformBuffer } else { DescriptorType::StorageBuffer };
        let info = DescriptorSetLayoutCreateInfo {
            flags: DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR,
            bindings: (0..=buffers).map(|n| (n, binding(kind(n)))).collect(),
            ..DescriptorSetLayoutCreateInfo::default()
        };
        let set = DescriptorSetLayout::new(Arc::clone(&self.device), info).map_err(|e| errors::driver("a set layout", e))?;
        let info = PipelineLayoutCreateInfo { set_layouts: vec![set], ..PipelineLayoutCreateInfo::default() };
        let layout =
            PipelineLayout::new(Arc::clone(&self.device), info).map_err(|e| errors::driver("a pipeline layout", e))?;
        layouts.insert(buffers, Arc::clone(&layout));
        Ok(layout)
    }
}

impl Compiler for Pipelines {
    fn compile(&self, code: &Code) -> Result<Compiled> {
        Ok(self.get(&spirv::words(code, self.modes), code.buffers.len() as u32)?)
    }
}

impl Made {
    fn find(&mut self, hash: u64, words: &[u32], buffers: u32) -> Option<Arc<Pipeline>> {
        self.clock += 1;
        let entries = self.entries.get_mut(&hash)?;
        let entry = entries.iter_mut().find(|e| e.buffers == buffers && *e.words == *words)?;
        entry.used = self.clock;
        Some(Arc::clone(&entry.pipeline))
    }

    fn keep(&mut self, hash: u64, words: &[u32], buffers: u32, pipeline: Arc<Pipeline>) -> Arc<Pipeline> {
        if let Some(first) = self.find(hash, words, buffers) {
            return first;
        }
        if self.count >= MOST {
            self.drop_oldest();
        }
        let entry = Entry { words: words.into(), buffers, pipeline: Arc::clone(&pipeline), used: self.clock };
        self.entries.entry(hash).or_default().push(entry);
        self.count += 1;
        pipeline
    }

    /// Looks at all: some microseconds beside a compilation of a millisecond.
    fn drop_oldest(&mut self) {
        let Some(oldest) = self.entries.values().flatten().map(|e| e.used).min() else { return };
        self.entries.retain(|_, list| {
            list.retain(|e| e.used != oldest);
            !list.is_empty()
        });
        self.count = self.entries.values().map(Vec::len).sum();
    }
}
