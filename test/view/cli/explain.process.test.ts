/** `kintsugi explain` as a process: what Node says of the modules. */
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { kintsugi, folderOfTests } from "./_support/playing.ts"
import { quoted, shellIn } from "./_support/shell.ts"

const { file, folder } = folderOfTests()
const shell = shellIn(folder)

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

/** A process starts slowly on a machine that is at work. */
const timeout = 120_000

describe("kintsugi explain", () => {
  it("takes the default export, or the only policy of a module [P1238]", { timeout }, async () => {
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
    expect((await kintsugi(["explain", main])).out).toContain("at worst: 7 attempts")
    const hash = file("c#.js", `${head}export const table = { A: Recovery.retry({ retries: 2 }) }\n`)
    expect(shell(`kintsugi explain ${quoted(hash)}`).out).toContain("at worst: 3 attempts")
    expect(shell(`kintsugi explain ${quoted(`${hash}#table`)}`).out).toContain("at worst: 3 attempts")
    const odd = file(
      "odd.js",
      `${head}const table = { A: Recovery.retry({ retries: 4 }) }\nexport { table as "weird # name" }\n`
    )
    expect(shell(`kintsugi explain ${quoted(`${odd}#weird # name`)}`).out).toContain("at worst: 5 attempts")
  })

  it("lists the policies if it does not know the named one [P1238 P1240]", { timeout }, () => {
    const there =
      /again \(a verdict\), clerk \(an agent\), http \(an explanation\), schedule \(a schedule\), search \(a table\), team \(an agent that is made of others\), tools\.find \(a tool\)/
    for (const name of ["nope", "tools.other", "search.__proto__"]) {
      const { code, err, out } = shell(`kintsugi explain ${quoted(at(name))}`)
      expect([code, out]).toEqual([1, ""])
      expect(err).toMatch(there)
      expect(err).not.toMatch(/^\s+at /m)
    }
    expect(shell(`kintsugi explain ${quoted(policies)}`).err).toMatch(/has several policies, name one as .*#again/)
  })

  it("reports why a module cannot be loaded [P1238 P1240]", { timeout }, () => {
    for (const [path, says] of [
      [join(folder, "missing.ts"), "there is no such file"],
      [".", /^error: cannot load \.: it is a folder, name a module in it\n$/],
      [file("syntax.ts", "export const = 1"), /SyntaxError|Expression expected|Expected/],
      [file("enum.ts", "export enum A { B }"), "Node strips types and translates nothing"],
      [file("throws.ts", 'throw new Error("not today\\nnor tomorrow")'), "not today"],
      [file("needs.ts", 'import "no-such-package"'), "no-such-package"],
      [file("data.csv", "a,b"), "no module that Node can read"],
      [file("none.ts", "export const a = 1"), "exports no policy, but a"],
      [file("bare.ts", ""), "exports no policy"]
    ] as const) {
      const { code, err, out } = shell(`kintsugi explain ${quoted(path)}`)
      expect([code, out], err).toEqual([1, ""])
      expect(err).toMatch(says)
      expect(err).not.toMatch(/^\s+at /m)
    }
  })
})
