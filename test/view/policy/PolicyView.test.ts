/** Policies to look at. */
import { Agent, type Explanation, Recovery, Skill, Tool } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { PolicyPage, PolicySvg, PolicyText, PolicyView } from "@kintsugi/view"
import { Duration, Effect, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const options = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  initialBackoff: fc.integer({ min: 0, max: 5_000 }),
  factor: fc.constantFrom(1, 2),
  jitter: fc.constantFrom("none", "full", "equal")
})
const verdict = fc.oneof(
  { weight: 4, arbitrary: options.map((given) => Recovery.retry<unknown>(given)) },
  { weight: 1, arbitrary: fc.constant(Recovery.tell<unknown>()) }
)
const table = fc.dictionary(fc.constantFrom("A", "B", "orElse"), verdict, { minKeys: 1, maxKeys: 3 })
const tables = fc.array(table, { minLength: 1, maxLength: 3 })

const layersOf = (all: ReadonlyArray<Parameters<typeof Recovery.explain>[0]>) => {
  const [first, ...rest] = all.map((table, index): Explanation.TimelineLayer => ({
    name: `layer ${index + 1}`,
    explanation: Recovery.explain(table)
  }))
  if (first === undefined) throw new Error("no layer was drawn")
  return [first, ...rest] as const
}

const stackOf = (view: PolicyView.View) => {
  const [stack] = view.stacks
  if (stack === undefined) throw new Error("nothing is drawn")
  return stack
}

type Row = Explanation.Explanation["rows"][number]

const millis = (row: Row, of: (wait: Row["rungs"][number]["waits"][number]) => Duration.Duration) =>
  row.rungs.flatMap(({ waits }) => waits.map((wait) => Duration.toMillis(of(wait))))

const sums = (waits: ReadonlyArray<number>) => {
  const all = [0]
  for (const wait of waits) all.push((all.at(-1) ?? 0) + wait)
  return all
}

const close = (actual: ReadonlyArray<number>, expected: ReadonlyArray<number>) => {
  expect(actual).toHaveLength(expected.length)
  actual.forEach((value, index) => expect(value).toBeCloseTo(expected[index] ?? Number.NaN, 6))
}

describe("a policy to look at", () => {
  it("begins its attempts after the waits of explain, as early and as late as chance allows [P1234]", () => {
    fc.assert(
      fc.property(table, (policy) => {
        const layers = layersOf([policy])
        const { attempts, worst } = stackOf(PolicyView.make(layers))
        const row = layers[0].explanation.rows.find(({ key }) => key === worst.lanes[0]?.row)
        if (row === undefined) throw new Error("a table has a row")
        close(
          attempts.map(({ earliest }) => earliest),
          sums(millis(row, ({ least }) => least))
        )
        close(
          attempts.map(({ latest }) => latest),
          sums(millis(row, ({ most }) => most))
        )
        expect(attempts.map(({ path }) => path)).toEqual(attempts.map((_, index) => [index + 1]))
      })
    )
  })

  it("numbers the attempts of all layers, none twice [P1234]", () => {
    fc.assert(
      fc.property(tables, (all) => {
        const { attempts, worst } = stackOf(PolicyView.make(layersOf(all)))
        const paths = attempts.map(({ path }) => path.join("."))
        expect(new Set(paths).size).toBe(paths.length)
        for (const { earliest, latest, path } of attempts) {
          expect(path).toHaveLength(all.length)
          expect(earliest).toBeLessThanOrEqual(latest)
        }
        worst.lanes.forEach((lane, depth) => {
          const begun = attempts.filter(({ path }) => path.slice(depth + 1).every((number) => number === 1))
          expect(begun.map(({ latest, path }) => [path[depth], latest])).toEqual(
            lane.attempts.map(({ at, number }) => [number, at])
          )
        })
      })
    )
  })

  it("multiplies the worst cases as explain does, layer by layer [P1235]", () => {
    fc.assert(
      fc.property(tables, (all) => {
        const { bounds } = stackOf(PolicyView.make(layersOf(all)))
        const stacked = all
          .toReversed()
          .reduce<Explanation.Explanation | undefined>(
            (inner, table) => Recovery.explain(table, inner === undefined ? {} : { inner }),
            undefined
          )
        expect(bounds.requests).toBe(stacked?.worst.requests)
        expect(bounds.factors.reduce((product, factor) => product * factor, 1)).toBe(bounds.requests)
        expect(bounds.modelCalls).toBe(stacked?.worst.modelCalls)
        expect(bounds.time).toBeCloseTo(Duration.toMillis(stacked?.worst.time ?? Duration.zero), 3)
      })
    )
  })

  it("draws as many attempts as the product of the layers, if each layer has a single row [P1235]", () => {
    const row = options.map((given) => ({ A: Recovery.retry<unknown>(given) }))
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 3 }), (all) => {
        const { attempts, bounds, worst } = stackOf(PolicyView.make(layersOf(all)))
        expect(attempts).toHaveLength(bounds.requests)
        expect(worst.end).toBeCloseTo(bounds.waits, 3)
      })
    )
  })

  const find = Tool.make("find", {
    description: "Finds something.",
    parameters: Schema.Struct({ query: Schema.String }),
    success: Schema.String,
    sideEffects: "none",
    run: () => Effect.succeed("it")
  }).pipe(Tool.onError({ InvalidArgs: Recovery.retry({ retries: 1 }) }))
  const clerk = Agent.make("clerk", { skills: [Skill.make("find", { description: "Finds.", tools: [find] })] }).pipe(
    Agent.onLlmError({ NetworkError: Recovery.retry({ maxAttempts: 3, initialBackoff: "1 second" }) })
  )
  const http = { name: "http", explanation: Transport.explain() } as const

  it("bounds the run of an agent as the agent itself [P1235]", () => {
    const transport = PolicyView.together([http])
    expect(Agent.explain(clerk, { transport }).worst).toEqual(
      Agent.explain(clerk, { transport: http.explanation }).worst
    )
    const run = Agent.explain(clerk, { transport })
    const view = PolicyView.ofRun("clerk", run, { inner: [http] })
    expect(view.run).toEqual(run.worst)
    expect(view.run).toMatchObject(Agent.bounds(clerk, { transport }))
    expect(view.stacks.map(({ bounds, title }) => [title, bounds.requests])).toEqual([
      ["model", 9],
      ["tool find", 2]
    ])
    const team = Agent.andThen(
      clerk,
      Agent.deterministic("shout", (text: string) => Effect.succeed(text))
    )
    const bounds = Agent.bounds(team, { transport })
    expect(PolicyView.ofBounds("team", bounds)).toEqual({ title: "team", stacks: [], run: bounds })
  })

  it("has a stack for each table with rows, and none without them [P1236]", () => {
    const plain = Tool.make("plain", {
      description: "Does nothing.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("")
    })
    const bare = Agent.explain(Agent.make("desk", { tools: [plain] }))
    const retried = plain.pipe(Tool.onError({ InvalidArgs: Recovery.retry({ retries: 1 }) }))
    const mended = Agent.explain(Agent.make("desk", { tools: [retried] }))
    const titles = (run: typeof bare, ...inner: ReadonlyArray<Explanation.TimelineLayer>) =>
      PolicyView.ofRun("desk", run, { inner }).stacks.map(({ title }) => title)
    expect([titles(bare), titles(mended), titles(bare, http)]).toEqual([[], ["tool plain"], ["model"]])
    const [model] = PolicyView.ofRun("clerk", Agent.explain(clerk)).stacks
    expect(model?.bounds.factors).toEqual([3])
  })

  it("counts the model calls of fixers in each attempt of the layer around them [P1235]", () => {
    const inner = Recovery.explain({ Busy: Recovery.fix(Agent.make("mender", { budget: { maxTurns: 3 } })) })
    const outer = Recovery.explain({ Busy: Recovery.retry<unknown>({ retries: 2 }) })
    const layers = [
      { name: "outer", explanation: outer },
      { name: "inner", explanation: inner }
    ] as const
    expect(inner.worst.modelCalls).toBeGreaterThan(0)
    expect(stackOf(PolicyView.make(layers)).bounds.modelCalls).toBe(3 * inner.worst.modelCalls)
  })

  it("says in text, drawing and page what the check of each message adds [P1599 P1236]", () => {
    const judge = Agent.make("judge", { budget: { maxTurns: 1 } })
    const guarded = clerk.pipe(Agent.guardInput(() => Agent.guard.pass, { agent: judge }))
    const view = PolicyView.ofRun("clerk", Agent.explain(guarded))
    for (const form of [PolicyText.format(view), PolicySvg.draw(view), PolicyPage.make(view)])
      expect(form).toContain("1 model call for each message that is checked (the input is one)")
    expect(PolicyText.format(PolicyView.ofRun("clerk", Agent.explain(clerk)))).not.toContain("that is checked")
  })

  it("has its bounds in text, drawing and page alike, and draws any table [P1236]", () => {
    fc.assert(
      fc.property(tables, (all) => {
        const view = PolicyView.make(layersOf(all))
        const text = PolicyText.format(view)
        const [drawing, page] = [PolicySvg.draw(view), PolicyPage.make(view)]
        const { requests } = stackOf(view).bounds
        const said = new RegExp(`\\b${requests.toLocaleString("en-US")} attempts?\\b`)
        for (const form of [text, drawing, page]) expect(form).toMatch(said)
        expect(drawing).toMatch(/^<svg .*<\/svg>$/)
        expect(`${drawing}${page}`).not.toMatch(/NaN|undefined|Infinity/)
        expect(page).toContain("default-src 'none'")
      })
    )
  })

  it("lists no more attempts than its option admits, and marks a row without a bound [P1236]", () => {
    const unbounded = { Busy: Recovery.when(() => Recovery.tell()) }
    const [first] = layersOf([unbounded])
    const text = PolicyText.format(PolicyView.make([first]))
    expect(text).toContain("chosen at each failure")
    expect(text).toContain("waits unknown")
    const long = PolicyView.make(layersOf([{ Busy: Recovery.retry({ retries: 50 }) }]))
    expect(PolicyText.format(long, { maxRows: 5 })).toContain("… and 46 more attempts")
    expect(
      PolicyText.format(PolicyView.make(layersOf([{ Busy: Recovery.retry({ retries: 50 }) }]), { maxAttempts: 4 }))
    ).toContain("more attempts follow")
    const evil = PolicyView.make([{ ...first, name: "<b>\u001b" }])
    for (const never of ["<b>", "\u001b"]) {
      expect(`${PolicySvg.draw(evil)}${PolicyPage.make(evil)}`).not.toContain(never)
    }
  })

  it("shows no control and no turn of direction to a terminal, whichever name has it [P1236]", () => {
    const evil = "evil\u001b[31m\u202e\nname"
    const table = { [evil]: Recovery.when(() => Recovery.tell<unknown>()) }
    const layer = { name: evil, explanation: Recovery.explain(table) }
    const run = PolicyView.ofBounds(evil, { modelCalls: 1, requests: 1, time: Duration.zero })
    for (const view of [PolicyView.make([layer]), PolicyView.make([layer, layer]), run]) {
      const text = PolicyText.format(view)
      // oxlint-disable-next-line no-control-regex -- this is what must not be there
      expect(text).not.toMatch(/[\u001b\u202e]/)
      expect(text).toContain("evil\u241b[31m[U+202E] name")
    }
  })

  it("shows the row that is chosen, names the others, and has no scale without waits [P1236]", () => {
    const table = {
      Steady: Recovery.retry({ retries: 2, initialBackoff: "1 second" }),
      Random: Recovery.retry({ retries: 1, initialBackoff: "1 second", jitter: "full" }),
      Once: Recovery.tell()
    }
    const layers = layersOf([table])
    const [drawn, chosen] = [PolicyView.make(layers), PolicyView.make(layers, { row: "Random" })]
    expect(PolicyText.format(drawn)).toContain("layer 1 also has rows for Random, Once")
    expect(PolicyText.format(drawn)).toContain("no wait of the drawn rows is left to chance")
    expect(PolicyText.format(chosen)).toContain("layer 1 meets Random")
    expect(PolicyText.format(chosen)).not.toContain("left to chance")
    const once = PolicySvg.draw(PolicyView.make(layers, { row: "Once" }))
    expect(once).toContain("no waits: each attempt follows at once")
    expect(once).not.toContain('k-axis"')
    expect(PolicySvg.draw(drawn)).toContain('k-axis"')
    // a page with one stack says its title once
    const page = PolicyPage.make(drawn)
    expect(page.match(/<h[12]>layer 1<\/h[12]>/g)).toEqual(["<h1>layer 1</h1>"])
  })
})
