import { ConstantBackoff, handleType, retry } from "cockatiel"
import * as Plain from "../../src/floors/typescript.ts"
import { addition, type Behaviour, type Peer, input, Unavailable } from "./peer.ts"

/** cockatiel has policies and no agents: its retry stands around the tool of a bare loop. Its shortest wait is a timer of 0 ms. */
export const cockatiel = (behaviour: Behaviour): Peer => {
  const policy = retry(handleType(Unavailable), { maxAttempts: 2, backoff: new ConstantBackoff(0) })
  const add = addition(behaviour)
  const model = Plain.modelOf(2)
  const tool = Plain.tool((params) => policy.execute(() => add(params)))
  return { name: "cockatiel", run: () => Plain.run(model, input, 8, new Map([["add", tool]])) }
}
