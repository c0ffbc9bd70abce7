#!/usr/bin/env node
/**
 * The bin `kintsugi`. Node keeps what it compiles for the next start, of all that is loaded from here on: imports that stand at the head
 * of a module are loaded before its first line. Where it keeps that, and whether it does, the environment says.
 */
import module from "node:module"

// not every runtime has it
module.enableCompileCache?.()
const { start } = await import("./process.ts")
start()
