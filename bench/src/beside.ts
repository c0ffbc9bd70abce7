/** This library among the peers. It stands here, so that it runs on the Effect that it is installed with. */
import { Model, Recovery, Tool } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ours from "./ours.ts"
import { addition, type Behaviour, description, type Peer, input } from "../peers/src/peer.ts"

/** This library: a tool that fails is run again. */
export const ours = (behaviour: Behaviour): Peer => {
  const add = addition(behaviour)
  const tool = Tool.make("add", {
    description,
    parameters: Ours.Params,
    success: Schema.Finite,
    run: (params) => Effect.try({ try: () => add(params), catch: (error) => error })
  }).pipe(Tool.onError({ orElse: Recovery.retry({ retries: 2 }) }))
  const agent = Ours.agentOf(tool)
  const run = Effect.provideService(
    Effect.suspend(() => agent(input)),
    Model.Model,
    Ours.modelOf(2)
  )
  return { name: "ours", run: () => Effect.runPromise(run) }
}
