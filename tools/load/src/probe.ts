/**
 * Loaded before the program of a process, by `--import`: says what the process has taken so far, and ends it together with the generator,
 * however that ends. The program itself knows nothing of it.
 */
import { readdirSync } from "node:fs"
import { answering } from "./answering.ts"

export interface Measured {
  /** Bytes in use after a collection, and bytes that the machine has given. */
  readonly heap: number
  readonly resident: number
  /** Seconds of the processor. */
  readonly cpu: number
  /** Open files and sockets. */
  readonly descriptors: number
}

const measure = (): Measured => {
  const { system, user } = process.cpuUsage()
  const resident = process.memoryUsage.rss()
  const descriptors = readdirSync("/proc/self/fd").length
  // twice: finalizers of the first let go of more
  globalThis.gc?.()
  globalThis.gc?.()
  return { heap: process.memoryUsage().heapUsed, resident, cpu: (user + system) / 1e6, descriptors }
}

answering({ measure })
process.once("disconnect", () => process.exit(1))
// a program that has nothing else to do may end
process.channel?.unref()
