/** A lock file: one process at a time uses a folder, and the folder of a dead process is free. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Fs from "node:fs"
import { join } from "node:path"
import { kill, pid as ownPid } from "node:process"
import { unusable } from "./unusable.ts"

/** The process that uses a folder, as the lock file names it. */
interface Holder {
  readonly pid: number
  /** When the process began, or empty if the system does not tell. Another process may get the same id later. */
  readonly since: string
}

const NAME = "kintsugi.lock"

/**
 * Creates a folder if it does not exist, and locks it until the scope closes. If another process has the lock, it fails with the error that
 * `inUse` makes.
 */
export const lock = <E>(
  folder: string,
  inUse: (holder: { readonly folder: string; readonly pid: number }) => E
): Effect.Effect<void, E | SqlError, Scope.Scope> => {
  const file = join(folder, NAME)
  const own = JSON.stringify({ pid: ownPid, since: since(ownPid) } satisfies Holder)
  const taking = Effect.gen(function* () {
    const holder = yield* Effect.try({
      try: () => {
        Fs.mkdirSync(folder, { recursive: true })
        return take(file, own)
      },
      catch: (cause) => unusable(folder, cause)
    })
    if (holder !== undefined) return yield* Effect.fail(inUse({ folder, pid: holder.pid }))
  })
  return Effect.acquireRelease(taking, () => Effect.sync(() => Fs.rmSync(file, { force: true })))
}

/** Takes the lock and returns `undefined`, or returns the living process that has it. */
const take = (file: string, own: string): Holder | undefined => {
  // written under another name first, so that the lock file appears with its whole content
  const mine = `${file}.${ownPid}.${performance.now()}`
  Fs.writeFileSync(mine, own)
  try {
    for (;;) {
      if (tried(() => Fs.linkSync(mine, file), "EEXIST")) return undefined
      const text = textOf(file)
      if (text === undefined) continue
      const holder: Holder = JSON.parse(text)
      if (isAlive(holder)) return holder
      // several processes may find the lock of a dead process: the first one moves that lock away
      const dead = `${mine}.dead`
      if (!tried(() => Fs.renameSync(file, dead), "ENOENT")) continue
      // another process was faster, and this one has moved its fresh lock: put it back
      if (textOf(dead) !== text) tried(() => Fs.linkSync(dead, file), "EEXIST")
      Fs.rmSync(dead, { force: true })
    }
  } finally {
    Fs.rmSync(mine, { force: true })
  }
}

/** Returns whether `act` succeeded, and `false` if it failed with the error code `expected`. Throws any other error. */
const tried = (act: () => void, expected: string): boolean => {
  try {
    act()
    return true
  } catch (error) {
    if (codeOf(error) === expected) return false
    throw error
  }
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code

const textOf = (file: string): string | undefined => {
  let text: string | undefined
  tried(() => void (text = Fs.readFileSync(file, "utf8")), "ENOENT")
  return text
}

const isAlive = ({ pid, since: before }: Holder): boolean => {
  try {
    kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false
  }
  const now = since(pid)
  // Mutant `false` for `now === ""` survives: a system that does not tell has not told before either
  return now === "" || before === "" || now === before
}

/**
 * Identifies a start of a process by the boot of the machine and the start time. Process ids do not suffice: a container gives its first
 * processes the same ids each time. Empty if the system does not tell.
 */
const since = (pid: number): string => {
  try {
    const stat = Fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    // the name of the program is in parentheses, and may contain spaces and parentheses itself
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
    return `${Fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${start}`
  } catch {
    return ""
  }
}
