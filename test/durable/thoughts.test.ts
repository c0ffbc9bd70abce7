/** Thoughts of models over HTTP in durable runs: what a process recorded, the next one sends back. */
import { assert, it } from "@effect/vitest"
import { Agent, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Anthropic } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema } from "effect"
import { fakeNetwork, respond } from "../_support/network.ts"
import { type Death } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  sideEffects: "none",
  run: () => Effect.succeed("seen")
})

/** The signatures in a body, in order. */
const signatures = (body: string) => [...body.matchAll(/"signature":"([^"]+)"/g)].map(([, signature = ""]) => signature)

const thinking = () => {
  // the reply follows from the request, whichever process sends it
  const network = fakeNetwork(() =>
    Effect.suspend(() => {
      const turn = signatures(network.sent.at(-1)?.body ?? "").length
      const said =
        turn === 2
          ? { type: "text", text: "done" }
          : { type: "tool_use", id: `toolu_${turn}`, name: "look", input: { b: 1, aa: 2 } }
      return respond(200, {
        type: "message",
        model: "m",
        content: [{ type: "thinking", thinking: "hmm", signature: `s-${turn}` }, said],
        stop_reason: turn === 2 ? "end_turn" : "tool_use",
        usage: { output_tokens: 3 }
      })()
    })
  )
  const model = Anthropic.layer({
    model: "claude-opus-5-5",
    apiKey: Redacted.make("k"),
    baseUrl: "https://p.test",
    transport: { retry: false }
  }).pipe(Layer.provide(network.layer))
  const agent = Agent.make("worker", {
    model,
    prompt: "Be.",
    budget: { maxDuration: "2 days" },
    skills: [Skill.make("work", { description: "Works.", tools: [look] })]
  })
  const durable = Durable.workflow(agent, { name: "worker", input: Schema.String, output: Schema.String })
  return {
    durable,
    layer: durable.layer.pipe(Layer.orDie),
    sent: () => network.sent.map(({ body }) => signatures(body))
  }
}

// Finds out nothing of its own: its subject is the thoughts of a provider, after a death at each step
it.effect("a process may die at any step: the next one sends all recorded thoughts back [P1410]", () =>
  Effect.gen(function* () {
    for (const when of ["before", "after"] as const)
      for (let at = 1; ; at++) {
        const death: Death = { at, when }
        const { durable, layer, sent } = thinking()
        const { exit, hasDied } = yield* surviving(durable, layer as never, death)
        assert.deepInclude(exit, { _tag: "Success", value: "done" }, `${when} ${at}: ${String(exit)}`)
        assert.deepStrictEqual(sent().at(-1), ["s-0", "s-1"], `${when} ${at}`)
        if (!hasDied) break
      }
  })
)
