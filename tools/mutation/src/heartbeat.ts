/** A file that tells what a process is at and until when it may be: the one who watches ends what takes longer. */
import { openSync, readFileSync, writeSync } from "node:fs"

const SIZE = 1000

/** Writes over the same bytes each time, so that it costs little. */
export const heartbeat = (path: string) => {
  const file = openSync(path, "w")
  return (mutant: string, test: string, forMillis: number): void => {
    const line = JSON.stringify([Date.now() + forMillis, mutant, test.slice(0, 400)])
    writeSync(file, Buffer.from(line.padEnd(SIZE)).subarray(0, SIZE), 0, SIZE, 0)
  }
}

/** What was written last; nothing when it was caught while it is written. */
export const lastBeat = (path: string): { until: number; mutant: string; test: string } | undefined => {
  try {
    const [until, mutant, test] = JSON.parse(readFileSync(path, "utf8"))
    return { until, mutant, test }
  } catch {
    return undefined
  }
}
