#!/usr/bin/env node
/**
 * The bin `kintsugi`. Node caches the compiled code of all modules that are loaded after `enableCompileCache`, so the program is loaded by
 * a dynamic import: static imports are loaded before the first line of a module. Environment variables say where the cache is, and whether
 * there is one.
 */
import module from "node:module"

// not every runtime has this function
module.enableCompileCache?.()
const { start } = await import("./process.ts")
start()
