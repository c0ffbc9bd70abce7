/** The processes of a cluster: runners that end, each followed by another one, and the one who starts the runs. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { root } from "../../../scripts/files.ts"
import { freePort } from "./postgres.ts"
import { folder } from "./folder.ts"

/** How a runner ends: at the n-th line that it writes, by that signal. */
export interface End {
  readonly at: number
  readonly signal: "SIGKILL" | "SIGTERM"
}

/** The ends of runners, and the faults of their clocks by slot: see `processes/runner.ts`. */
export interface Plan {
  /** How the next runner ends; one without an end lives until all is over. */
  readonly next: () => End | undefined
  readonly clock?: (slot: number) => string | undefined
}

export interface Runners {
  /** How many have ended as they should. */
  readonly ends: () => number
  /** Those that ended otherwise, and how. */
  readonly faults: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Starts three runners, and another one in the place of each that ends. */
export const startRunners = async (database: number, models: string, files: string, plan: Plan): Promise<Runners> => {
  const children = new Set<ChildProcess>()
  const faults: Array<string> = []
  let [ends, isOver] = [0, false]
  const start = (slot: number, port: number, nth: number): void => {
    const end = plan.next()
    const name = `runner${slot}.${nth}`
    const args = [database, port, models, files, name, end?.at ?? 0, end?.signal ?? "SIGKILL"]
    const child = spawn(process.execPath, [join(root, folder, "src/processes/runner.ts"), ...args.map(String)], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, KINTSUGI_CLOCK: plan.clock?.(slot) ?? "" }
    })
    children.add(child)
    child.once("close", (code, signal) => {
      children.delete(child)
      if (isOver) return
      const isRight = end !== undefined && (end.signal === "SIGKILL" ? signal === "SIGKILL" : code === 0)
      if (isRight) ends++
      else faults.push(`${name} ended with ${signal ?? code}`)
      start(slot, port, nth + 1)
    })
  }
  for (const slot of [1, 2, 3]) start(slot, await freePort(), 1)
  const last = () => children.forEach((child) => child.kill("SIGKILL"))
  process.once("exit", last)
  const stop = async () => {
    isOver = true
    process.off("exit", last)
    const gone = [...children].map((child) => new Promise((resolve) => child.once("close", resolve)))
    last()
    await Promise.all(gone)
  }
  return { ends: () => ends, faults, stop }
}

/** A line of the starter: see `processes/starter.ts`. */
export interface Progress {
  readonly started?: number
  readonly ended?: number
  readonly order?: string
  readonly answer?: string
  readonly bytes?: Readonly<Record<string, number>>
  /** For how many seconds nothing was recorded, at the longest. */
  readonly quiet?: number
  /** After half of the patience: what is not finished, and from how many messages marks were taken off. */
  readonly marks?: number
  readonly unfinished?: object
  /** Rows before and after the statements of the guide, and runs that are unknown after that. */
  readonly deleted?: Readonly<Record<"undone" | "before" | "afterYoung" | "afterOld" | "unknown", number>>
}

/** Starts runs, and passes on the lines of the starter until all runs have ended, or until no run ends any more. */
export const startOrders = async (
  database: number,
  files: string,
  patience: number,
  orders: ReadonlyArray<string>,
  hear: (progress: Progress) => void
): Promise<number | null> => {
  const args = [database, files, patience, ...orders].map(String)
  const child = spawn(process.execPath, [join(root, folder, "src/processes/starter.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve))
  for await (const line of createInterface({ input: child.stdout })) hear(JSON.parse(line))
  return closed
}
