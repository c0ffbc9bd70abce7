/** The command line of `npm run eval`, and the page that it writes. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { Help, Usage } from "../../../scripts/commandLine.ts"
import { root } from "../../../scripts/files.ts"
import { commandOf } from "../src/page.ts"
import { policies } from "../src/policies.ts"
import { run } from "../src/program.ts"
import { defaults } from "../src/rates.ts"
import { scenarios } from "../src/scenarios.ts"
import { parse } from "../src/settings.ts"

describe("the command line", () => {
  it("is a stand-in with all scenarios and policies by default", () => {
    const settings = parse([])
    assert.deepStrictEqual(settings.asked, { type: "stand-in" })
    assert.strictEqual(settings.scenarios.length, scenarios.length)
    assert.strictEqual(settings.policies.length, policies.length)
    assert.deepStrictEqual([settings.rates, settings.maxTokens], [defaults, Infinity])
  })

  it("has a limit of spending where it is live", () => {
    const live = ["--live", "--provider=openai", "--model=gpt-5-mini"]
    assert.strictEqual(parse(live).maxTokens, 500_000)
    assert.strictEqual(parse([...live, "--max-tokens=7"]).maxTokens, 7)
    assert.strictEqual(parse([...live, "--price=1,2", "--max-cost=0.5"]).maxCost, 0.5)
  })

  it("refuses what cannot be done, with a reason", () => {
    const live = ["--live", "--provider=openai", "--model=m"]
    const refused: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["--runs=0"], /--runs must be a whole number/],
      [["--seed=x"], /--seed must be a number/],
      [["--corrects=1.5"], /--corrects must be a share/],
      [["--scenario=nope"], /there is no 'nope', only missing-field/],
      [["--policy=nope"], /only none, /],
      [["--price=1"], /--price/],
      [["--nope"], /nope/],
      [["--model=m"], /--model needs --live/],
      [["--max-tokens=1"], /are for --live/],
      [["--live", "--model=m"], /needs --provider=/],
      [["--live", "--provider=perplexity", "--model=m"], /needs --provider=/],
      [["--live", "--provider=openai"], /needs --model/],
      [[...live, "--base-url=ftp://x"], /http/],
      [[...live, "--corrects=0.5"], /is for the stand-in/],
      [[...live, "--write"], /--write is for all/],
      [[...live, "--max-cost=1"], /needs --price/],
      [["--write", "--policy=none"], /--write is for all/]
    ]
    for (const [command, reason] of refused) assert.throws(() => parse(command), Usage, reason, command.join(" "))
    assert.throws(() => parse(["--help"]), Help, "npm run eval -- [options]")
  })
})

describe("docs/reports/eval.md", () => {
  const text = readFileSync(join(root, "docs/reports/eval.md"), "utf8")

  it("has the scenarios, the policies and the shares that there are", () => {
    const names = [
      ...scenarios.map(({ name, of, says }) => `| \`${name}\` | ${of} | ${says} |`),
      ...policies.map(({ name, says }) => `| \`${name}\` | ${says} |`)
    ]
    const rates = Object.entries(defaults).map(([name, value]) => `| \`--${name}\` | ${value} |`)
    assert.deepStrictEqual(
      [...names, ...rates].filter((line) => !text.includes(line)),
      []
    )
  })

  it("has the command that writes it", () => {
    const command = /^npm run eval -- (.*)$/m.exec(text)?.[1]?.split(" ") ?? []
    const settings = parse(command)
    assert.isTrue(settings.isWritten)
    assert.include(text, commandOf({ rates: settings.rates, settings }))
    assert.include(text, `Seed ${settings.seed}, ${settings.runs} runs`)
  })

  it("is written by it", async () => {
    let written = ""
    const settings = parse(["--runs=1", "--seed=3", "--corrects=0.7", "--write"])
    const quiet = {
      write: () => {},
      complain: () => {},
      progress: () => {},
      date: "2026-11-21",
      keep: (page: string) => (written = page)
    }
    assert.strictEqual(await Effect.runPromise(run(settings, quiet)), 0)
    assert.match(written, /Seed 3, 1 runs of each scenario under each policy, 2026-11-21/)
    assert.match(written, /--runs=1 --seed=3 --breaks=1 --corrects=0.7 .*--write/)
    assert.match(written, /corrects 0.5 \| corrects 0.7 \| corrects 0.95 \| seed 4 \|/)
    assert.match(written, /^In \d+ of 32 runs under `resilient` a tool does what the user has not asked for/m)
    // all but the numbers is the same
    const titles = (page: string) => page.split("\n").filter((line) => line.startsWith("#"))
    assert.deepStrictEqual(titles(written), titles(text))
  })
})
