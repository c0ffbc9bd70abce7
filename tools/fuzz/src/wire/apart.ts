/** Plays a group of scenarios in a process of its own, so that a crash ends no other. */
import { spawn } from "node:child_process"
import { type Line, scenarios } from "./playing.ts"

/** No group may take longer than this. */
const longestGroup = 180_000

/** Plays a group in a process of its own: what it has not emit of when it is over has crashed, or hangs. */
export const playApart = (group: string, command: ReadonlyArray<string>, emit: (line: Line) => void): Promise<void> =>
  new Promise((resolve) => {
    const left = scenarios
      .filter((scenario) => scenario.group === group)
      .flatMap(({ api, modes, name }) => modes.map((mode) => ({ group, name, api: api as string, mode })))
    const [program = "", ...args] = command
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      child.kill("SIGKILL")
    }, longestGroup)
    let rest = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        // it is written by `main.ts`
        emit(JSON.parse(line) as Line)
        left.shift()
      }
    })
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      for (const [at, run] of left.entries()) {
        const says = at === 0 ? `the process ended with ${signal ?? code}` : "not played"
        emit({ ...run, type: isLate ? "hang" : "crash", says, millis: 0 })
      }
      resolve()
    })
  })
