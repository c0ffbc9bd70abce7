/** The lines that all forms of a policy share, and the text and the page of a policy as a whole. */
import { Agent, Compaction, Recovery } from "@kintsugi/core"
import { PolicyPage, PolicyText, PolicyView } from "@kintsugi/view"
import { Duration } from "effect"
import { describe, expect, it } from "vitest"
import {
  boundsLine,
  duration,
  metOf,
  rangeOf,
  remarksOf,
  runLine,
  type Stack
} from "../../../packages/view/src/policy/words.ts"

const bounds = (fields: Partial<Stack["bounds"]> = {}): Stack["bounds"] => ({
  factors: [3],
  requests: 3,
  fixerRuns: 0,
  modelCalls: 0,
  waits: 1500,
  time: 1500,
  ...fields
})

const viewOf = (table: Parameters<typeof Recovery.explain>[0], options: Parameters<typeof PolicyView.make>[1] = {}) =>
  PolicyView.make([{ name: "http", explanation: Recovery.explain(table) }], options)

const stackOf = (...of: Parameters<typeof viewOf>): Stack => {
  const [stack] = viewOf(...of).stacks
  if (stack === undefined) throw new Error("there is a stack")
  return stack
}

const steady = { Busy: Recovery.retry<unknown>({ retries: 2, initialBackoff: "1 second" }) }
const random = { Busy: Recovery.retry<unknown>({ retries: 1, initialBackoff: "1 second", jitter: "full" }) }

describe("the bounds of a stack in one line", () => {
  it("have their factors, if there are several layers [P1236]", () => {
    expect(boundsLine(bounds())).toBe("3 attempts, 1.5 s of waits")
    expect(boundsLine(bounds({ factors: [1], requests: 1, waits: 0, time: 0 }))).toBe("1 attempt, 0 s of waits")
    expect(boundsLine(bounds({ factors: [3, 2000], requests: 6000 }))).toBe(
      "3 × 2,000 = 6,000 attempts, 1.5 s of waits"
    )
  })

  it("have what fixers take, and the longer waits that servers ask for [P1236]", () => {
    expect(boundsLine(bounds({ fixerRuns: 1, modelCalls: 2, time: 3000 }))).toBe(
      "3 attempts, 1 fixer run, 2 model calls, 1.5 s of waits, 3 s in all if servers ask for it"
    )
    expect(boundsLine(bounds({ waits: Infinity, time: Infinity }))).toBe("3 attempts, waits unknown")
    expect(boundsLine(bounds({ time: Infinity }))).toBe("3 attempts, 1.5 s of waits")
  })
})

describe("the bounds of a run in one line", () => {
  const run = { modelCalls: 2, requests: 2, time: Duration.zero }

  it("leave out what a run has none of [P1236]", () => {
    expect(runLine(run, 0)).toBe("2 model calls, 0 s of waits and timeouts")
    expect(runLine({ ...run, requests: 4 }, Infinity)).toBe("2 model calls, 4 requests, waits unknown")
  })

  it("have all that bounds it [P1236]", () => {
    const all = {
      ...run,
      turns: 1,
      toolCalls: 3,
      requests: 1,
      fixerRuns: 2,
      cost: 0.5,
      perMessage: { modelCalls: 1, time: Duration.zero }
    }
    expect(runLine(all, 1500)).toBe(
      "1 turn, 3 tool calls, 2 model calls, 1 request, 2 fixer runs, a cost of $0.5, 1.5 s of waits and timeouts, 1 model call for each message that is checked (the input is one)"
    )
  })
})

describe("times [P1234]", () => {
  it("are instants, or ranges if chance decides [P1234]", () => {
    expect([duration(0), duration(1), duration(1500)]).toEqual(["0 s", "1 ms", "1.5 s"])
    expect([rangeOf({ earliest: 5, latest: 5 }), rangeOf({ earliest: 0, latest: 1000 })]).toEqual(["5 ms", "0 s – 1 s"])
  })
})

describe("the remarks about a stack", () => {
  it("say that no wait is left to chance, of the drawn rows or of all [P1236]", () => {
    expect(remarksOf(stackOf(steady))).toEqual(["no wait is left to chance"])
    expect(remarksOf(stackOf(random))).toEqual([])
    const other = { Busy: Recovery.retry<unknown>({ retries: 5, initialBackoff: "1 second" }), Other: random.Busy }
    expect(remarksOf(stackOf(other))).toEqual([
      "no wait of the drawn rows is left to chance",
      "http also has a row for Other"
    ])
    // one of the waits of another row is certain, and one is not
    const stack = stackOf(other)
    const [least, most] = [Duration.zero, Duration.seconds(1)]
    const waits = [
      { least: most, most },
      { least, most }
    ]
    const layers = stack.layers.map((layer) => {
      const rows = layer.explanation.rows.map((row) => ({
        ...row,
        rungs: row.rungs.map((rung) => ({ ...rung, waits }))
      }))
      return { ...layer, explanation: { ...layer.explanation, rows } }
    })
    const [layer] = layers
    if (layer === undefined) throw new Error("there is a layer")
    expect(remarksOf({ ...stack, layers: [layer] })[0]).toBe("no wait of the drawn rows is left to chance")
    // nothing waits
    expect(remarksOf(stackOf({ Busy: Recovery.tell<unknown>() }))).toEqual([])
  })

  it("say how many attempts are shown, if there are more [P1236]", () => {
    expect(remarksOf(stackOf(steady, { maxAttempts: 2 }))).toEqual(["more attempts follow: the first 2 are shown"])
  })

  it("say why waits are unknown, and what each layer meets [P1236]", () => {
    const stack = stackOf({
      Busy: Recovery.when(() => Recovery.tell<unknown>()),
      A: Recovery.tell<unknown>(),
      B: Recovery.tell<unknown>()
    })
    expect(remarksOf(stack)[0]).toMatch(/^http \(Busy\): chosen at each failure/)
    expect(remarksOf(stack).at(-1)).toBe("http also has rows for A, B")
    expect(metOf(stack)).toBe("http meets Busy")
    expect(metOf(stackOf({}))).toBe("http has no row")
  })
})

describe("the text of a policy", () => {
  it("has the table, the attempts and the remarks of one layer [P1236]", () => {
    expect(PolicyText.format(viewOf(steady, { title: "my policy" }), { emphasise: (text) => `*${text}*` })).toBe(
      `*my policy*
row   rung     times  waits   fixer runs  model calls
Busy  1 retry  2      1s, 2s

at worst: 3 attempts, 3s of waits, 2m in all if servers ask for it

*if every attempt fails at once* (http meets Busy)
attempt  begins at
1              0 s
2              1 s
3              3 s

no wait is left to chance`
    )
  })

  it("has both times of an attempt if chance decides, and counts the rest [P1236]", () => {
    expect(PolicyText.format(viewOf(random)).split("\n\n")[2]).toBe(
      `if every attempt fails at once (http meets Busy)
attempt  earliest  latest
1             0 s     0 s
2             0 s     1 s`
    )
    expect(PolicyText.format(viewOf(steady), { maxRows: 2 })).toContain("2              1 s\n… and 1 more attempt\n")
    expect(PolicyText.format(viewOf(steady), { maxRows: 3 })).not.toContain("more attempt")
    const many = { Busy: Recovery.retry<unknown>({ retries: 20 }) }
    expect(PolicyText.format(viewOf(many))).toContain("\n20  ")
    expect(PolicyText.format(viewOf(many))).toContain("… and 1 more attempt")
  })

  it("names each of several layers, and bounds them together [P1236]", () => {
    const layer = (name: string) => ({ name, explanation: Recovery.explain(name === "bare" ? {} : steady) })
    const text = PolicyText.format(PolicyView.make([layer("outer"), layer("bare")]))
    expect(text.split("\n\n").map((section) => section.split("\n")[0])).toEqual([
      "outer",
      "at worst: 3 attempts, 3s of waits, 2m in all if servers ask for it",
      "bare",
      "if every attempt fails at once (outer meets Busy, bare has no row)",
      "no wait is left to chance",
      "all layers together, at worst: 3 × 1 = 3 attempts, 3 s of waits, 2 min in all if servers ask for it"
    ])
    expect(text).toContain("bare\nno rows: one attempt")
    expect(PolicyView.make([layer("outer"), layer("bare")]).title).toBe("outer › bare")
    expect(PolicyText.format(PolicyView.make([layer("a \n\t b")]))).toMatch(/^a b\n/)
  })

  it("has the bounds of a run at its end [P1236]", () => {
    const view = PolicyView.ofBounds("team", { modelCalls: 1, requests: 1, time: Duration.seconds(2) })
    expect(PolicyText.format(view)).toBe("a run of team, at worst: 1 model call, 2 s of waits and timeouts")
    const page = PolicyPage.make(view, { title: "Team" })
    expect(page).toContain("<h1>Team</h1>")
    expect(page).toContain("<p>A run, at worst: 1 model call, 2 s of waits and timeouts.</p>")
  })
})

describe("the page of a policy", () => {
  it("says how long a person is asked, and what repairs cost [P1236]", () => {
    const explanation = Recovery.explain({ Busy: Recovery.tell<unknown>() })
    const [{ rungs: [rung] } = { rungs: [] }] = explanation.rows
    if (rung === undefined) throw new Error("there is a rung")
    const row = (fields: object) => {
      const changed = { ...explanation, rows: [{ key: "Busy", rungs: [{ ...rung, verdict: "x", ...fields }] }] }
      // cast: only the fields of a rung differ
      const page = PolicyPage.make(PolicyView.make([{ name: "http", explanation: changed as typeof explanation }]))
      return [
        ...page.matchAll(/<td(?: class="number")? data-name="(?:waits|fixer runs|model calls)">([^<]*)<\/td>/g)
      ].map(([, cell]) => cell)
    }
    expect(row({ fixerRuns: 3, compactions: 2, modelCalls: 4 })).toEqual(["", "3", "20"])
    expect(row({ fixerRuns: 3, modelCalls: 4 })).toEqual(["", "3", "12"])
    const asks = (times: number, time: Duration.Duration) => row({ asks: { times, time } })[0]
    expect(asks(1, Duration.infinity)).toBe("for a person, once")
    expect(asks(2, Duration.seconds(90))).toBe("for a person, 2 times, up to 1 min 30 s in all")
    expect(row({ unknown: "chosen" })[0]).toBe("chosen")
  })

  it("has a table of the rungs, and one of the attempts [P1236]", () => {
    const page = PolicyPage.make(viewOf(random), { title: "Other", maxRows: 1 })
    expect(page).toContain("<h2>http</h2>")
    expect(page).toContain("<p>At worst: 2 attempts, 1 s of waits, 1 min in all if servers ask for it.</p>")
    expect(page).toContain(
      '<caption>The table of http</caption><thead><tr><th scope="col">row</th><th scope="col">rung</th><th scope="col">waits</th><th scope="col" class="number">fixer runs</th><th scope="col" class="number">model calls</th></tr></thead>'
    )
    expect(page).toContain(
      '<tr><th scope="row">Busy</th><td data-name="rung">1 retry</td><td data-name="waits">0 s – 1 s</td><td class="number" data-name="fixer runs">0</td><td class="number" data-name="model calls">0</td></tr>'
    )
    expect(page).toContain("<caption>When each attempt begins, if every one fails at once: the first 1</caption>")
    expect(page).toContain(
      '<tbody><tr><th scope="row">1</th><td class="number" data-name="begins after">0 s</td></tr></tbody>'
    )
    for (const options of [{}, { maxRows: 2 }])
      expect(PolicyPage.make(viewOf(random), options)).toContain(
        "<caption>When each attempt begins, if every one fails at once</caption>"
      )
  })
  it("names all attempts where it has room for them [P1236]", () => {
    const captionOf = (maxRows: number) =>
      /<caption>(When [^<]*)<\/caption>/.exec(PolicyPage.make(viewOf(steady), { maxRows }))?.[1]
    expect(captionOf(2)).toBe("When each attempt begins, if every one fails at once: the first 2")
    expect(captionOf(3)).toBe("When each attempt begins, if every one fails at once")
  })

  it("has the model calls of fixers and compactions, and what a person may take [P1236]", () => {
    const agent = Agent.make("mender", { budget: { maxTurns: 3 } })
    const cellsOf = (row: Parameters<typeof Recovery.explain>[0]) => {
      const page = PolicyPage.make(viewOf(row))
      const [, rows = ""] = /<caption>The table of http<\/caption>.*?<tbody>(.*?)<\/tbody>/s.exec(page) ?? []
      return [...rows.matchAll(/<td[^>]*>([^<]*)</g)].map(([, text]) => text)
    }
    expect(cellsOf({ Busy: Recovery.fix(agent, { retries: 2 }) })).toEqual(["1 fix mender", "", "2", "6"])
    expect(cellsOf({ Busy: Recovery.compact(Compaction.summarise(agent)) })).toEqual([
      "1 compact summarise",
      "",
      "0",
      "6"
    ])
    expect(cellsOf({ Busy: Recovery.ask({ validFor: "2 hours", onExpiry: "refuse" }) })).toEqual([
      "1 ask",
      "for a person, once, up to 2 h in all",
      "0",
      "0"
    ])
    expect(cellsOf({ Busy: Recovery.ask({ validFor: "2 hours", onExpiry: "refuse", times: 3 }) })).toEqual([
      "1 ask",
      "for a person, 3 times, up to 6 h in all",
      "0",
      "0"
    ])
    expect(cellsOf({ Busy: Recovery.ask({ validFor: "2 hours", onExpiry: "ask-again" }) })).toEqual([
      "1 ask",
      "for a person, once",
      "0",
      "0"
    ])
  })
})
