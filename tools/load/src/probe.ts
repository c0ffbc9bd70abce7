/**
 * Loaded before the program of a process, by `--import`: says what the process has taken so far, and ends it together with the generator,
 * however that ends. The program itself knows nothing of it.
 */
import { readdirSync } from "node:fs"
import { answering } from "./answering.ts"

export interface Measured {
  /** Bytes in use after a collection. */
  readonly heap: number
  /** Bytes that the machine has given before that collection, and those of them that V8 has taken for its heap. */
  readonly resident: number
  readonly reserved: number
  /** Seconds of the processor. */
  readonly cpu: number
  /** Open files and sockets. */
  readonly descriptors: number
}

const measure = (): Measured => {
  const { system, user } = process.cpuUsage()
  const { heapTotal: reserved, rss: resident } = process.memoryUsage()
  const descriptors = readdirSync("/proc/self/fd").length
  // twice: finalizers of the first let go of more
  globalThis.gc?.()
  globalThis.gc?.()
  return { heap: process.memoryUsage().heapUsed, reserved, resident, cpu: (user + system) / 1e6, descriptors }
}

answering({ measure })
process.once("disconnect", () => process.exit(1))
// a program that has nothing else to do may end
process.channel?.unref()
