/** What a program starts and writes is gone when it ends, also when a check fails or a signal ends it. */
import { type SpawnOptions, spawn } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"

/** Lets a signal end this program as its last line would: what is registered for its exit is done. */
export const endOnSignals = (): void => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

/** Does something when it is disposed of, or else when this program ends. */
const atTheEnd = (act: () => void): Disposable => {
  process.once("exit", act)
  return {
    [Symbol.dispose]: () => {
      process.off("exit", act)
      act()
    }
  }
}

export interface Folder extends Disposable {
  readonly path: string
}

/** A folder for what is needed for a while. */
export const temporaryFolder = (name: string): Folder => {
  const path = mkdtempSync(join(realpathSync(tmpdir()), `kintsugi-${name}-`))
  return { path, ...atTheEnd(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 })) }
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

/** Runs a program until it ends; what it prints is kept where `stdio` does not send it elsewhere. */
export const run = async (
  command: string,
  args: ReadonlyArray<string>,
  { env, ...options }: SpawnOptions
): Promise<Ended> => {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    env: { ...process.env, ...env }
  })
  using _ = atTheEnd(() => void child.kill())
  let [out, errors] = ["", ""]
  child.stdout?.on("data", (chunk) => (out += String(chunk)))
  child.stderr?.on("data", (chunk) => (errors += String(chunk)))
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve))
  return { code, out, errors }
}
