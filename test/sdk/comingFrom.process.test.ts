/** The programs of the pages about other libraries: the other library and ours ask the same server for the same. */
import type { Model } from "@kintsugi/core"
import { OpenAi } from "@kintsugi/providers"
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type Asked, serving } from "./comingFrom/server.ts"

/** A program, as a file of the folder beside this test exports it. */
interface Theirs {
  readonly answer: () => Promise<unknown>
  /** What its tool has done, once for each run of the tool. */
  readonly tracked?: Array<number>
  readonly paid?: Array<string>
}

interface Ours extends Omit<Theirs, "answer"> {
  readonly answer: Effect.Effect<unknown, unknown, Model.Model>
}

const first = Layer.orDie(OpenAi.responses("gpt-5.6-sol"))
const second = Layer.orDie(OpenAi.responses("gpt-5.6-terra"))

const agent = (): Promise<Ours> => import("./comingFrom/ours/agent.ts")
const approval = (): Promise<Ours> => import("./comingFrom/ours/approval.ts")
const typed = (): Promise<Ours> => import("./comingFrom/ours/typed.ts")
const fallback = async (): Promise<Ours> => ({
  answer: (await import("./comingFrom/ours/fallback.ts")).answer(first, second)
})

/** The models that each program asks, and what comes of it. */
const did = {
  agent: { models: ["gpt-5.6-sol", "gpt-5.6-sol"], answer: "Done.", runs: [7] },
  fallback: { models: ["gpt-5.6-sol", "gpt-5.6-terra"], answer: "Done.", runs: [] },
  approval: { models: ["gpt-5.6-sol", "gpt-5.6-sol"], answer: "Done.", runs: ["A-1"] },
  typed: { models: ["gpt-5.6-sol"], answer: { parcel: 7, town: "Graz" }, runs: [] }
}

const programs: ReadonlyArray<
  readonly [library: string, program: keyof typeof did, () => Promise<Theirs>, () => Promise<Ours>]
> = [
  ["ai-sdk", "agent", () => import("./comingFrom/ai-sdk/agent.ts"), agent],
  ["ai-sdk", "fallback", () => import("./comingFrom/ai-sdk/fallback.ts"), fallback],
  ["openai-agents", "agent", () => import("./comingFrom/openai-agents/agent.ts"), agent],
  ["openai-agents", "approval", () => import("./comingFrom/openai-agents/approval.ts"), approval],
  ["langchain", "agent", () => import("./comingFrom/langchain/agent.ts"), agent],
  ["langchain", "typed", () => import("./comingFrom/langchain/typed.ts"), typed],
  ["mastra", "agent", () => import("./comingFrom/mastra/agent.ts"), agent],
  ["mastra", "fallback", () => import("./comingFrom/mastra/fallback.ts"), fallback]
]

describe("a program of another library and ours", () => {
  const scope = Scope.makeUnsafe()
  let requests: Array<Asked> = []

  beforeAll(async () => {
    // Mastra reports a model that fails, also if another one answers
    vi.spyOn(console, "error").mockReturnValue()
    requests = await Effect.runPromise(Scope.provide(serving, scope))
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const play = async ({ paid = [], tracked = [] }: Omit<Theirs, "answer">, run: () => Promise<unknown>) => {
    for (const list of [requests, paid, tracked]) list.length = 0
    const answer = await run()
    return { answer, runs: [...paid, ...tracked], requests: requests.slice() }
  }

  it.each(programs)("send the same requests, run the tool as often, and answer alike: %s, %s", async (...row) => {
    const [, name, importTheirs, importOurs] = row
    const [theirs, ours] = [await importTheirs(), await importOurs()]
    const said = await play(theirs, theirs.answer)
    const { answer, models, runs } = did[name]
    expect(said).toMatchObject({ answer, runs, requests: models.map((model) => ({ model })) })
    expect(await play(ours, () => Effect.runPromise(Effect.provide(ours.answer, first)))).toEqual(said)
  })
})
