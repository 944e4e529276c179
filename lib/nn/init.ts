// Initial weights by their names here, and by those of NumPy and PyTorch.

export * from './initializers.js'
export * from '../generated/names/init.js'
