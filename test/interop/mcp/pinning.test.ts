/** The pins of one server, tool by tool: verdicts, changes, and what an approval pins. */
import { assert, it } from "@effect/vitest"
import type * as Mcp from "@kintsugi/interop/Mcp"
import { Effect } from "effect"
import type { Tool } from "effect/ai/McpSchema"
import { Pinning, type Policy } from "../../../packages/interop/src/mcp/pinning.ts"
import { definitionOf, digestOf } from "../../../packages/interop/src/mcp/pins.ts"

const same = (text: string) => text

// cast: tools come as JSON
const toolOf = (description: string, name = "sell") =>
  ({ name, description, inputSchema: { type: "object" } }) as unknown as Tool

const [first, second, third] = [toolOf("Sells."), toolOf("Gives."), toolOf("Lends.")]

const digest = (tool: Tool) => digestOf("shop", tool.name, definitionOf(tool, same))

/** The pins of a server, and what was written into their store. */
const pinning = (policy: Partial<Policy> = {}) => {
  const stored: { pins: ReadonlyArray<Mcp.Pin> | undefined; writes: number } = { pins: undefined, writes: 0 }
  const store: Mcp.PinStore = {
    read: () => Effect.sync(() => stored.pins),
    write: (_, pins) =>
      Effect.sync(() => {
        stored.pins = pins
        stored.writes++
      })
  }
  const made = new Pinning("shop", same, { onChange: "refuse", onNew: "offer", ...policy }, store)
  let relisted = 0
  const sourceOf = (tool: Tool) =>
    made.sourceOf(
      tool,
      Effect.sync(() => {
        relisted++
        made.isStale = false
      }),
      // a tool with only its definition
      (tool) => ({ definition: tool }) as never
    ) ?? assert.fail("the tool has no pin")
  return { made, relisted: () => relisted, sourceOf, stored }
}

it.effect("the current tool of a name is that of the last list, or the pinned one of several [P1548]", () =>
  Effect.gen(function* () {
    const { made } = pinning()
    assert.isUndefined(made.currentOf("sell"))
    assert.isUndefined(made.sourceOf(first, Effect.void, same as never))
    yield* made.take([first])
    assert.strictEqual(made.currentOf("sell"), first)
    assert.isUndefined(made.currentOf("buy"))
    yield* made.take([second, first, third])
    assert.strictEqual(made.currentOf("sell"), first)
    const other = toolOf("Buys.", "buy")
    yield* made.take([second, third, other, toolOf("Buys all.", "buy")])
    assert.strictEqual(made.currentOf("sell"), second)
    assert.strictEqual(made.currentOf("buy"), other)
  })
)

it.effect("a tool has the digest of its own list, or of the last one [P1547]", () =>
  Effect.gen(function* () {
    const { made, relisted, sourceOf } = pinning()
    yield* made.take([first])
    const source = sourceOf(first)
    assert.deepInclude(source, { key: "shop/sell", server: "shop", digest: yield* digest(first) })
    yield* made.take([second])
    assert.strictEqual(sourceOf(first).digest, yield* digest(first))
    assert.strictEqual(sourceOf(toolOf("unlisted")).digest, yield* digest(second))
    const now = yield* source.now
    assert.strictEqual(now?.digest, yield* digest(second))
    assert.strictEqual<unknown>(now?.tool(), second)
    assert.strictEqual(relisted(), 0)
    made.isStale = true
    yield* source.now
    assert.strictEqual(relisted(), 1)
    yield* made.take([])
    assert.isUndefined(yield* source.now)
  })
)

it.effect("a source learns that an operator has accepted the definition meanwhile [P1549]", () =>
  Effect.gen(function* () {
    const { made, sourceOf, stored } = pinning()
    yield* made.take([first])
    yield* made.take([second])
    const now = yield* digest(second)
    const source = sourceOf(second)
    assert.strictEqual(source.verdict(now, now), "refuse")
    stored.pins = [{ tool: "sell", digest: now, definition: {}, replaced: [] }]
    yield* source.now
    assert.strictEqual(source.verdict(now, now), "same")
  })
)

it.effect("a verdict compares what was offered and what there is now with the pin [P1548]", () =>
  Effect.gen(function* () {
    const [one, two, three] = yield* Effect.all([digest(first), digest(second), digest(third)])
    for (const onChange of ["refuse", "ask", "accept"] as const) {
      const { made, sourceOf } = pinning({ onChange })
      yield* made.take([first])
      const { accept, verdict } = sourceOf(first)
      assert.deepStrictEqual(
        [verdict(one, one), verdict(two, one), verdict(one, two), verdict(two, two)],
        ["same", onChange, onChange, onChange]
      )
      yield* made.take([second])
      yield* accept(one, two)
      // what the pin has replaced goes on with the pin, and nothing else does
      assert.deepStrictEqual([verdict(two, two), verdict(one, two), verdict(three, two)], ["same", "accept", onChange])
    }
    for (const onNew of ["ask", "refuse"] as const) {
      const { made, sourceOf } = pinning({ onNew })
      yield* made.take([toolOf("Buys.", "buy")])
      yield* made.take([toolOf("Buys.", "buy"), first])
      const { verdict } = sourceOf(first)
      assert.deepStrictEqual([verdict(one, one), verdict(two, one)], [onNew, onNew])
    }
    // a tool that the store has no pin of any more is offered as a new one
    const { made, sourceOf, stored } = pinning()
    yield* made.take([first])
    stored.pins = []
    yield* made.take([])
    const { verdict } = sourceOf(first)
    assert.deepStrictEqual([verdict(one, one), verdict(two, one)], ["same", "accept"])
  })
)

it.effect("a request for approval has both definitions, or the digest of one that is not stored [P1548]", () =>
  Effect.gen(function* () {
    const { made, sourceOf } = pinning({ onChange: "ask", onNew: "ask" })
    yield* made.take([first])
    yield* made.take([second, toolOf("Buys.", "buy")])
    const [one, two, three] = yield* Effect.all([digest(first), digest(second), digest(third)])
    const [before, after] = [definitionOf(first, same), definitionOf(second, same)]
    const { change } = sourceOf(second)
    assert.deepStrictEqual(change(one), { server: "shop", before, after })
    assert.deepStrictEqual(change(three), { server: "shop", before, after })
    const bought = sourceOf(toolOf("x", "buy"))
    assert.deepStrictEqual(bought.change(one), { server: "shop", after: definitionOf(toolOf("Buys."), same) })
    // the pin is that of now: what was offered is another one
    yield* sourceOf(second).accept(one, two)
    assert.deepStrictEqual(change(three), { server: "shop", before: { digest: three }, after })
    assert.deepStrictEqual(change(two), { server: "shop", before: after, after })
    yield* made.take([])
    assert.deepStrictEqual(change(two), { server: "shop", before: after, after: null })
  })
)

it.effect("an approval pins the definition of now and remembers sixteen that it replaces [P1548]", () =>
  Effect.gen(function* () {
    const { made, sourceOf, stored } = pinning({ onChange: "ask" })
    yield* made.take([first])
    const [one, two, three] = yield* Effect.all([digest(first), digest(second), digest(third)])
    yield* made.take([second])
    const { accept } = sourceOf(second)
    const { writes } = stored
    // not what the server has now
    yield* accept(one, three)
    assert.strictEqual(stored.writes, writes)
    const definition = definitionOf(second, same)
    yield* accept(three, two)
    assert.deepStrictEqual(stored.pins, [{ tool: "sell", digest: two, definition, replaced: [three, one] }])
    yield* accept(two, two)
    assert.deepStrictEqual(stored.pins, [{ tool: "sell", digest: two, definition, replaced: [three, one] }])
    for (let nth = 0; nth < 20; nth++) yield* accept(`d${nth}`, two)
    const replaced = stored.pins?.[0]?.replaced
    assert.deepStrictEqual([replaced?.length, replaced?.[0], replaced?.[15]], [16, "d19", "d4"])
  })
)

it.effect("a list is written if it changes a pin, and accepting nothing writes nothing [P1547 P1549]", () =>
  Effect.gen(function* () {
    const { made, stored } = pinning({ onChange: "accept" })
    yield* made.take([first])
    assert.strictEqual(stored.writes, 1)
    yield* made.take([first])
    assert.deepStrictEqual(
      [yield* made.acceptAll(undefined), yield* made.acceptAll(["sell"]), stored.writes],
      [[], [], 1]
    )
    yield* made.take([second])
    const [one, two] = yield* Effect.all([digest(first), digest(second)])
    const pin = { tool: "sell", digest: two, definition: definitionOf(second, same), replaced: [one] }
    assert.deepStrictEqual([stored.writes, stored.pins], [2, [pin]])
    yield* made.take([toolOf("Buys.", "buy")])
    assert.deepStrictEqual(
      [yield* made.acceptAll(undefined), stored.pins?.map(({ tool }) => tool)],
      [["sell"], ["buy"]]
    )
  })
)
