/** The hostile answers of `npm run fuzz -- wire`: some of them, and that each way to go wrong is noticed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { brain, changed, content, fixed, isGood } from "../src/wire/answers.ts"
import { groupsOf, type Line, playAll, report, scenarios } from "../src/wire/playing.ts"
import { play, type Scenario } from "../src/wire/scenario.ts"

const one: Scenario = {
  group: "planted",
  name: "a good answer",
  api: "openai-chat",
  modes: ["whole", "streamed"],
  serve: { type: "handler", handler: brain(content) },
  expected: isGood
}

it("has more than 400 scenarios, each once, in each format [P1405]", () => {
  const names = scenarios.map(({ api, group, modes, name }) => [group, name, api, modes].join())
  assert.isAbove(scenarios.length, 400)
  assert.strictEqual(new Set(names).size, names.length)
  assert.isAtLeast(groupsOf(scenarios).length, 12)
})

it("half calls and the words of providers are what they have to be [P1403 P1405]", { timeout: 60_000 }, async () => {
  const lines: Array<Line> = []
  const some = scenarios
    .filter(({ group }) => group === "half calls" || group === "words")
    .map((scenario) => ({ ...scenario, modes: scenario.modes.slice(-1) }))
  await playAll(some, (line) => lines.push(line))
  assert.isAbove(lines.length, 70)
  assert.deepStrictEqual(
    lines.filter(({ type }) => type !== "right"),
    []
  )
})

it("what a reply says about itself in a form of its own costs no reply [P1407]", { timeout: 60_000 }, async () => {
  const lines: Array<Line> = []
  await playAll(
    scenarios.filter(({ group }) => group === "facts"),
    (line) => lines.push(line)
  )
  assert.isAtLeast(lines.length, 70)
  assert.deepStrictEqual(
    lines.filter(({ type }) => type !== "right"),
    []
  )
})

it(
  "what a user attaches goes out once under any name, or is refused by its kind [P1408]",
  { timeout: 60_000 },
  async () => {
    const lines: Array<Line> = []
    await playAll(
      scenarios.filter(({ group }) => group === "attached"),
      (line) => lines.push(line)
    )
    assert.isAtLeast(lines.length, 80)
    assert.deepStrictEqual(
      lines.filter(({ type }) => type !== "right"),
      []
    )
  }
)

it("items that wait and jobs in hostile forms end by name, or with the text that is there [P1406]", async () => {
  const lines: Array<Line> = []
  await playAll(
    scenarios.filter(({ group, modes }) => (group === "waiting items" || group === "jobs") && modes[0] === "streamed"),
    (line) => lines.push(line)
  )
  assert.isAtLeast(lines.length, 30)
  assert.deepStrictEqual(
    lines.filter(({ type }) => type !== "right"),
    []
  )
})

describe("each way to go wrong is noticed", () => {
  const cases: ReadonlyArray<readonly [string, Scenario, string, number?]> = [
    ["a failure in the place of a reply", { ...one, serve: fixed({ status: 500, body: "" }) }, "wrong"],
    ["a reply in the place of a failure", { ...one, expected: { tags: ["ServerError"] } }, "wrong"],
    ["another reply", { ...one, expected: { reply: () => false } }, "wrong"],
    [
      "another class",
      { ...one, serve: fixed({ status: 500, body: "" }), expected: { tags: ["NetworkError"] } },
      "wrong"
    ],
    ["another number of sends", { ...one, expected: { ...isGood, sends: 2 } }, "wrong"],
    ["no end", { ...one, serve: changed(() => ({ cut: { after: "nothing", how: "silence" } })) }, "hang", 1]
  ]
  for (const [name, scenario, type, limit] of cases) {
    it.live(name, () =>
      Effect.gen(function* () {
        for (const mode of scenario.modes) {
          assert.strictEqual((yield* play(scenario, mode, [], limit)).type, type)
          assert.strictEqual((yield* play(one, mode, [])).type, "right")
        }
      })
    )
  }

  it.live("a defect, in the run or beside it", () =>
    Effect.gen(function* () {
      const thrown: Scenario = {
        ...one,
        expected: {
          reply: () => {
            throw new Error("planted")
          }
        }
      }
      assert.strictEqual((yield* play(thrown, "whole", [])).type, "defect")
      const strays = ["not handled: planted"]
      assert.deepInclude(yield* play(one, "whole", strays), { type: "defect", says: "not handled: planted" })
      assert.deepStrictEqual(strays, [])
    })
  )
})

it("the table counts runs by group, and names each that is not right", () => {
  const line = { group: "a", name: "n", api: "gemini", mode: "whole", millis: 1.4, says: "" } as const
  const text = report([
    { ...line, type: "right" },
    { ...line, type: "crash", mode: "streamed", says: "it ended with 3" }
  ])
  assert.match(text, /^group +scenarios +runs +right +hang +crash +defect +wrong +most ms$/m)
  assert.match(text, /^a +1 +2 +1 +0 +1 +0 +0 +1$/m)
  assert.include(text, "crash: a, n, gemini, streamed: it ended with 3")
})
