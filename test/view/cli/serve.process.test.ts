/** `kintsugi serve` as a process of its own: where it says that its page is, what it does after a change, and why it cannot start. */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import type { State } from "../../../packages/view/src/serve/browser/Wire.ts"
import { folderOfTests } from "./_support/playing.ts"
import { main } from "./_support/shell.ts"

const { file, folder } = folderOfTests()

const tools = (tags: string) => `
import { Recovery, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
export class Locked extends Schema.TaggedError<Locked>()("Locked", {}) {}
export const lookUp = Tool.make("lookUp", {
  description: "Looks up.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.String,
  failure: Locked,
  run: (): Effect.Effect<string, Locked> => Effect.succeed("found")
}).pipe(Tool.onError({ ${tags} }))
`

const agent = `
import { Agent } from "@kintsugi/core"
import { lookUp } from "./tools.ts"
console.log("this is not the address")
export const agent = Agent.make("desk", { tools: [lookUp] })
`

/** A process that serves, until the end of `use`. */
const serving = async (path: string, use: (page: Page) => Promise<void>): Promise<void> => {
  const child = spawn(process.execPath, [main, "serve", path], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
  const complaints: Array<string> = []
  child.stderr.on("data", (piece: Buffer) => complaints.push(piece.toString()))
  const ended = new Promise<never>((_, reject) =>
    child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${complaints.join("")}`)))
  )
  ended.catch(() => {})
  try {
    const address = (async () => {
      for await (const line of createInterface({ input: child.stdout })) {
        const found = URL.parse(line)
        if (found !== null) return found
      }
      throw new Error(`no address: ${complaints.join("")}`)
    })()
    const url = await Promise.race([address, ended])
    await use(new Page(url, () => complaints.join("")))
  } finally {
    child.kill("SIGKILL")
  }
}

class Page {
  readonly #url: URL
  readonly complaints: () => string

  constructor(url: URL, complaints: () => string) {
    this.#url = url
    this.complaints = complaints
  }

  readonly #ask = (path: string, init?: RequestInit) =>
    fetch(new URL(path, this.#url), {
      ...init,
      headers: { authorization: `Bearer ${this.#url.searchParams.get("token")}` }
    })

  async state(): Promise<State> {
    return (await (await this.#ask("/state")).json()) as State
  }

  /** Waits for a change after which the state is as wanted. */
  async until(is: (state: State) => boolean): Promise<State> {
    const leaving = new AbortController()
    const response = await this.#ask("/changes", { signal: leaving.signal })
    const reader = response.body!.getReader()
    try {
      for (;;) {
        const state = await this.state()
        if (is(state)) return state
        await reader.read()
      }
    } finally {
      leaving.abort()
    }
  }
}

describe("kintsugi serve [P1288]", () => {
  it("shows the agent anew when its module or a module of that has changed [P1288]", async () => {
    file("tools.ts", tools(""))
    const path = file("agent.ts", agent)
    await serving(path, async (page) => {
      const first = await page.state()
      assert.deepStrictEqual(first.agent?.tools[0]?.missing, ["Locked", "InvalidArgs"])
      writeFileSync(`${folder}/tools.ts`, tools("Locked: Recovery.tell()"))
      const second = await page.until(({ version }) => version > first.version)
      assert.deepStrictEqual(second.agent?.tools[0]?.missing, ["InvalidArgs"])
      writeFileSync(path, "export const table = {")
      const broken = await page.until(({ problem }) => problem !== undefined)
      assert.include(broken.problem?.title, "agent.ts cannot be loaded")
      assert.include(page.complaints(), "agent.ts cannot be loaded")
      writeFileSync(path, agent)
      await page.until(({ agent }) => agent !== undefined)
    })
  })

  it("says in the page and on the terminal why it cannot start, and what to paste [P1287]", async () => {
    await serving(file("table.ts", "export const table = {}\n"), async (page) => {
      const { agent, problem } = await page.state()
      assert.isUndefined(agent)
      assert.include(problem?.title, "table.ts exports no agent")
      assert.include(problem?.found, "table (object)")
      assert.include(problem?.paste, "Agent.make")
      assert.include(page.complaints(), "table.ts exports no agent")
      assert.include(page.complaints(), "Agent.make")
      assert.notMatch(page.complaints(), /^\s+at /m)
    })
  })
})
