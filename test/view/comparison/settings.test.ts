/** The settings that events show, and lines that differ. */
import { assert, describe, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { compareLines, settingsOf } from "../../../packages/view/src/comparison/settings.ts"

const settings = (...events: ReadonlyArray<object>) =>
  settingsOf(
    Recording.fromEvents(events.map((event) => ({ runId: "r", agent: "clerk", turn: 1, at: 0, ...event }))).events
  )

describe("the settings of a recording", () => {
  it("are the prompts of its agents, each once, by name [P1273]", () => {
    const start = (agent: string, transcript: ReadonlyArray<object>) => ({ type: "run-start", agent, transcript })
    const system = (text?: string) => [{ role: "system", text }, { role: "user" }]
    assert.deepStrictEqual(
      settings(
        start("desk", system("Help.\nBe brief.")),
        start("clerk", [{ role: "user", text: "Hi" }]),
        start("desk", system("Another one.")),
        start("bare", []),
        start("mute", system()),
        { type: "turn-start", agent: "other", transcript: system("no") }
      ),
      {
        prompts: ["bare:", "no prompt", "clerk:", "no prompt", "desk:", "Help.", "Be brief.", "mute:", ""],
        models: [],
        tables: []
      }
    )
  })

  it("are the models that were called, each once, by name [P1273]", () => {
    const asked = (agent: string, model: string) => ({ type: "model-start", agent, provider: "p", model })
    assert.deepStrictEqual(
      settings(asked("b", "m"), asked("a", "n"), asked("a", "m"), asked("a", "m"), {
        ...asked("z", "z"),
        type: "model-end"
      }).models,
      ["a: p m", "a: p n", "b: p m"]
    )
  })

  it("are the rows that have decided, with each kind of verdict in order [P1273]", () => {
    const verdict = (fields: object) => ({ type: "verdict", layer: "model", tag: "Busy", ...fields })
    assert.deepStrictEqual(
      settings(
        verdict({ verdict: "retry" }),
        verdict({ verdict: "retry" }),
        verdict({ verdict: "retry", gaveUp: true }),
        verdict({ verdict: "fix" }),
        verdict({ verdict: "tell", tool: "pay", layer: "tool" }),
        verdict({ tag: "A", layer: undefined })
      ).tables,
      ["clerk ›  › A: ", "clerk › model › Busy: retry, retry gave up, fix", "clerk › pay › Busy: tell"]
    )
  })
})

it("lines that differ stand before the equal ones behind them, those of the first text first [P1273]", () => {
  const signs = (first: string, second: string) =>
    compareLines([...first], [...second])
      .map(({ sign, text }) => `${sign}${text}`)
      .join("")
  assert.strictEqual(signs("abc", "axc"), " a-b+x c")
  assert.strictEqual(signs("ab", "ba"), "-a b+a")
  assert.strictEqual(signs("", "ab"), "+a+b")
  assert.strictEqual(signs("ab", ""), "-a-b")
  assert.strictEqual(signs("ab", "ab"), " a b")
})
