/** `kintsugi explain`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"

const { file, folder } = folderOfTests()

const policies = file(
  "policies.ts",
  `
import { Agent, LlmError, Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schedule, Schema } from "effect"

export const search = { NetworkError: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second", jitter: "full" }) }
export const http = Transport.explain()
export const again = Recovery.retry({ retries: 2 })
export const schedule = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 3 }))
const find = Tool.make("find", {
  description: "Finds.",
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.String,
  sideEffects: "none",
  run: () => Effect.succeed("it")
}).pipe(Tool.onError({ InvalidArgs: Recovery.retry({ retries: 1 }) }))
export const tools = { find, other: 1 }
export const clerk = Agent.make("clerk", { skills: [Skill.make("find", { description: "Finds.", tools: [find] })] }).pipe(
  Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }) })
)
export const team = Agent.andThen(clerk, Agent.deterministic("shout", (text: string) => Effect.succeed(text)))
export const answer: number = 42
export type Nothing = string
`
)
const at = (name: string) => `${policies}#${name}`

describe("kintsugi explain", () => {
  it.each([
    [
      "search",
      "NetworkError  1 retry  2      0s–1s, 0s–2s",
      "attempt  earliest  latest\n1             0 s     0 s\n2             0 s     1 s\n3             0 s     3 s"
    ],
    ["http", "at worst: 3 attempts", "250 ms"],
    ["again", "orElse  1 retry  2", "3"],
    ["schedule", "orElse  1 retry  3      1s, 1s, 1s", "3 s"],
    ["tools.find", "InvalidArgs  1 retry  1", "at worst: 2 attempts"],
    ["clerk", "tool find", "a run of clerk, at worst: 8 turns, 32 tool calls, 24 model calls"],
    ["team", "a run of team, at worst: 24 model calls", "waits and timeouts"]
  ])("explains %s [P1238]", async (name, first, second) => {
    const { code, err, out } = await kintsugi(["explain", at(name)])
    expect([code, err]).toEqual([0, ""])
    expect(out).toContain(first)
    expect(out).toContain(second)
  })

  it("stacks what is named, outermost first, and multiplies [P1238]", async () => {
    const stacked = await kintsugi(["explain", at("search"), at("http"), at("again")])
    expect(stacked).toMatchObject({ code: 0, err: "" })
    expect(stacked.out).toContain("3 × 3 × 3 = 27 attempts")
    const agent = await kintsugi(["explain", at("clerk"), at("http")])
    expect(agent.out).toContain("3 × 3 = 9 attempts")
    expect(agent.out).toContain("24 model calls, 72 requests")
    expect((await kintsugi(["explain", at("team"), at("http")])).out).toContain("24 model calls, 72 requests")
  })

  it("shows the row that is named, if a table has it [P1238]", async () => {
    const rows = file(
      "rows.js",
      `import { Recovery } from "@kintsugi/core"\nexport const table = { A: Recovery.retry({ retries: 3 }), B: Recovery.retry({ retries: 1 }) }\n`
    )
    expect((await kintsugi(["explain", rows])).out).toContain("table meets A")
    expect((await kintsugi(["explain", rows, "--row", "B"])).out).toContain("table meets B")
    const { code, err } = await kintsugi(["explain", rows, "--row", "C"])
    expect([code, err]).toEqual([1, expect.stringContaining("no table has a row 'C'; the rows are A, B")])
  })

  it("draws it as SVG or as a page, by the ending [P1238]", async () => {
    for (const [name, begins] of [
      ["search.svg", "<svg "],
      ["search.html", "<!doctype html>"],
      ["search.txt", "search\nrow"]
    ] as const) {
      const target = join(folder, name)
      expect(await kintsugi(["explain", at("search"), "-o", target])).toEqual({ code: 0, out: "", err: "" })
      expect(readFileSync(target, "utf8").startsWith(begins)).toBe(true)
    }
  })

  it("takes the default export, or the only policy of a module [P1238]", async () => {
    const head = 'import { Recovery } from "@kintsugi/core"\n'
    const lone = file(
      "lone.ts",
      `${head}export const a = 1\nexport const table = { A: Recovery.retry({ retries: 1 }) }\n`
    )
    expect((await kintsugi(["explain", lone])).out).toMatch(/^table\n/)
    const main = file(
      "main.js",
      `${head}export const other = { B: Recovery.tell() }\nexport default { A: Recovery.retry({ retries: 6 }) }\n`
    )
    const { out } = await kintsugi(["explain", main])
    expect(out).toMatch(/main\.js\nrow /)
    expect(out).toContain("at worst: 7 attempts")
  })

  it("takes none of two policies without a name, and a composition that is the default export [P1238]", async () => {
    const two = file(
      "two.js",
      'import { Recovery } from "@kintsugi/core"\nexport const a = Recovery.tell()\nexport const b = Recovery.tell()\n'
    )
    const { code, err } = await kintsugi(["explain", two])
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/two\.js has several policies, name one as .*two\.js#a: the policies in /)
    ])
    const composed = file(
      "composed.js",
      'import { Agent } from "@kintsugi/core"\nexport default Agent.deterministic("shout", () => undefined)\n'
    )
    expect((await kintsugi(["explain", composed])).out).toMatch(/^a run of .*composed\.js, at worst: 0 model calls/)
  })

  it("lists the policies if it does not know the named one [P1238 P1240]", async () => {
    const path = policies.slice(root.length + 1)
    // modules list their exports in an order of their own
    const explained = async (name: string) => {
      const { code, err, out } = await kintsugi(["explain", name])
      const [says = "", all = ""] = err.split(`the policies in ${path} are `)
      return { code, out, says, all: all.trim().split(", ").toSorted() }
    }
    const others = {
      code: 1,
      out: "",
      all: [
        "again (a verdict)",
        "clerk (an agent)",
        "http (an explanation)",
        "schedule (a schedule)",
        "search (a table)",
        "team (an agent that is made of others)",
        "tools.find (a tool)"
      ]
    }
    for (const name of ["nope", "tools.nope", "search.__proto__"])
      expect(await explained(at(name))).toEqual({ ...others, says: `error: ${path} exports no '${name}': ` })
    expect(await explained(at("answer"))).toEqual({ ...others, says: `error: 'answer' in ${path} is no policy: ` })
    expect(await explained(policies)).toEqual({
      ...others,
      says: expect.stringMatching(
        /^error: .*policies\.ts has several policies, name one as .*policies\.ts#(?:again|search): $/
      )
    })
  })

  it("knows each kind of policy by what it is, and a getter that throws [P1238]", async () => {
    const kinds = file(
      "kinds.ts",
      `
import { Agent, Recovery } from "@kintsugi/core"
export const agent = Agent.make("clerk", {})
export const alone = Agent.deterministic("shout", () => undefined)
export const run = Agent.explain(agent)
export const service = { generate: 1, stream: 1, provider: "p" }
export const notTable = { A: Recovery.tell(), B: 1 }
export const noRows = {}
export const list = [Recovery.tell()]
export const absent = { A: Recovery.tell(), B: undefined }
export const thrown = { get rows() { throw new Error("no rows today") } }
export const text = "text"
`
    )
    const { err } = await kintsugi(["explain", `${kinds}#text`])
    const [, all = ""] = err.split(/the policies in \S+ are /)
    expect(all.trim().split(", ").toSorted()).toEqual([
      "absent (a table)",
      "agent (an agent)",
      "alone (an agent that is a function)",
      "notTable.A (a verdict)",
      "run (an explanation of a run)",
      "service (a model)"
    ])
    expect((await kintsugi(["explain", `${kinds}#thrown`])).err).toMatch(
      /#thrown cannot be explained: no rows today\n$/
    )
    expect((await kintsugi(["explain", `${kinds}#thrown.rows`])).err).toMatch(
      /#thrown\.rows cannot be explained: no rows today\n$/
    )
    expect((await kintsugi(["explain", `${kinds}#alone`])).out).toContain("a run of alone, at worst: 0 model calls")
    expect(await kintsugi(["explain", `${kinds}#agent`, `${kinds}#run`])).toMatchObject({
      code: 2,
      err: "error: 'run' is an explanation of a run: it is outermost, so name it first\n"
    })
  })

  it("reports why a module cannot be loaded [P1238 P1240]", async () => {
    const throwing = (name: string, error: string) => file(name, `throw ${error}`)
    for (const [path, says] of [
      [join(folder, "missing.ts"), "cannot load X/missing.ts: there is no such file"],
      [folder, "cannot load X: it is a folder, name a module in it"],
      [throwing("plain.mjs", 'new Error("not today\\nnor tomorrow")'), "cannot load X/plain.mjs: not today"],
      [throwing("typed.mjs", 'new TypeError("no\\nor yes")'), "cannot load X/typed.mjs: TypeError: no"],
      [throwing("text.mjs", '"just so"'), "cannot load X/text.mjs: just so"],
      [throwing("coded.mjs", 'Object.assign(new TypeError("coded"), { code: "E" })'), "cannot load X/coded.mjs: coded"],
      [
        throwing("kind.mjs", 'Object.assign(new TypeError("x"), { code: "ERR_UNKNOWN_FILE_EXTENSION" })'),
        "cannot load X/kind.mjs: it is no module that Node can read"
      ],
      [
        throwing("enum.mjs", 'Object.assign(new SyntaxError("x"), { code: "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" })'),
        "cannot load X/enum.mjs: x (Node strips types and translates nothing: no enums, no namespaces, no parameter properties)"
      ],
      [file("none.mjs", "export const a = 1\nexport const b = 2"), "X/none.mjs exports no policy, but a, b"],
      [file("bare.mjs", "export {}"), "X/bare.mjs exports no policy"]
    ] as const)
      expect(await kintsugi(["explain", path])).toEqual({
        code: 1,
        out: "",
        err: `error: ${says.replace("X", folder.slice(root.length + 1))}\n`
      })
  })

  it("takes an agent as the outermost layer alone [P1238 P1240]", async () => {
    const { code, err } = await kintsugi(["explain", at("http"), at("clerk")])
    expect(code).toBe(2)
    expect(err).toContain("'clerk' is an agent: it is outermost, so name it first")
    expect((await kintsugi(["explain"])).code).toBe(2)
  })
})
