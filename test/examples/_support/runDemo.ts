/** The demo as a process of its own, as a user starts it. */
import type { AgentEvent } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Layer } from "../../../packages/core/src/event/Happening.ts"

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What `--events` holds, line by line; nothing when there is no such file. */
  readonly events: ReadonlyArray<Encoded>
}

/** An event as it stands in the file. */
export type Encoded = Pick<AgentEvent.AgentEvent, "runId" | "agent" | "turn" | "at" | "parent"> & {
  readonly type: AgentEvent.AgentEvent["type"]
  readonly layer?: Layer
  readonly tag?: string
  readonly verdict?: string
  readonly gaveUp?: boolean
  readonly transcript?: ReadonlyArray<{ readonly role: string }>
  readonly error?: { readonly _tag: string; readonly message: string }
  readonly output?: unknown
  /** Milliseconds. */
  readonly delay?: number
}

export interface Options {
  readonly stdin?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Called with all output so far, whenever there is more. */
  readonly onOutput?: (stdout: string) => void
  /** No reader takes its output, from the beginning. */
  readonly isUnread?: boolean
  /** When this was written, the process gets a SIGINT, once. */
  readonly interruptAt?: string
}

const main = resolve(import.meta.dirname, "../../../packages/examples/src/demo/main.ts")

export const folder = mkdtempSync(join(tmpdir(), "kintsugi-demo-"))

let runs = 0

export const run = (parameters: ReadonlyArray<string>, options: Options = {}): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const events = join(folder, `events-${++runs}.jsonl`)
    const { NO_COLOR: _n, OPENAI_API_KEY: _k, OPENAI_BASE_URL: _u, INIT_CWD: _i, ...env } = process.env
    const child = spawn(process.execPath, [main, "--events", events, ...parameters], {
      cwd: options.cwd ?? folder,
      env: {
        ...env,
        TMPDIR: folder,
        TEMP: folder,
        npm_lifecycle_event: "",
        NODE_COMPILE_CACHE: join(folder, "compiled"),
        ...options.env
      }
    })
    const output = { stdout: "", stderr: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const before = output.stdout
      output.stdout += text
      options.onOutput?.(output.stdout)
      const { interruptAt } = options
      if (interruptAt === undefined || before.includes(interruptAt)) return
      if (output.stdout.includes(interruptAt)) child.kill(ctrlC)
    })
    if (options.isUnread === true) child.stdout.destroy()
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text
    })
    child.stdin.on("error", () => undefined)
    child.stdin.end(options.stdin ?? "")
    child.once("close", (code) => resume(Effect.succeed({ code, ...output, events: readEvents(events) })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** What a terminal sends; Windows cannot send it to another process. */
const ctrlC = process.platform === "win32" ? "SIGTERM" : "SIGINT"

const readEvents = (path: string): ReadonlyArray<Encoded> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line): Encoded => JSON.parse(line))
    : []

/** Which layers of recovery had something to do. */
export const layersOf = ({ events }: Ended): ReadonlyArray<string> => {
  const met = new Set(events.flatMap(({ layer }) => (layer === undefined ? [] : [layer])))
  if (events.some(({ type }) => type === "fix-start")) met.add("tool")
  return ["transport", "model", "tool"].filter((layer) => met.has(layer as Layer))
}

/** The report comes after it. */
export const answerLine = (text: string): string | undefined => text.trimEnd().split("\n").at(-2)

/** Where the report is, by the last line. */
export const reportOf = (text: string): string | undefined => /\nreport: (.*)\n$/.exec(text)?.[1]
