/** A lock file: one process has a folder at a time, and the folder of a dead process is free. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Fs from "node:fs"
import { join } from "node:path"
import { kill, pid as ownPid } from "node:process"
import { unusable } from "./unusable.ts"

/** The process that has a folder. */
interface Holder {
  readonly pid: number
  /** When the process began, as far as the system tells: another process may get the same id later. */
  readonly since: string
}

const NAME = "kintsugi.lock"

/** Makes a folder where there is none, and takes it until the scope closes. It fails with what `inUse` makes of the process that has it. */
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

/** Takes the lock, or gives the living process that has it. */
const take = (file: string, own: string): Holder | undefined => {
  // a lock appears with its content, or not at all
  const mine = `${file}.${ownPid}.${performance.now()}`
  Fs.writeFileSync(mine, own)
  try {
    for (;;) {
      if (tried(() => Fs.linkSync(mine, file), "EEXIST")) return undefined
      const text = textOf(file)
      if (text === undefined) continue
      const holder: Holder = JSON.parse(text)
      if (isAlive(holder)) return holder
      // of several processes that find the dead one, the first moves its lock away
      const dead = `${mine}.dead`
      if (!tried(() => Fs.renameSync(file, dead), "ENOENT")) continue
      // a slower process has moved the lock of the first: it goes back
      if (textOf(dead) !== text) tried(() => Fs.linkSync(dead, file), "EEXIST")
      Fs.rmSync(dead, { force: true })
    }
  } finally {
    Fs.rmSync(mine, { force: true })
  }
}

/** Whether it could be done; with any other error than this one it throws. */
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
  return now === "" || before === "" || now === before
}

/** The boot of the machine and the start of a process, where the system tells of both. A container gives its first processes the same ids each time. */
const since = (pid: number): string => {
  try {
    const stat = Fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    // the name of the program stands in parentheses, and may have any sign
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
    return `${Fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${start}`
  } catch {
    return ""
  }
}
