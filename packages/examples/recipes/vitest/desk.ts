/** An agent to test: its tool looks a parcel up, tries again when the carrier does not answer, and tells the model of a parcel that there is not. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Context, type Effect, Schema } from "effect"

export class CarrierDown extends Schema.TaggedError<CarrierDown>()("CarrierDown", { message: Schema.String }) {}

export class NoSuchParcel extends Schema.TaggedError<NoSuchParcel>()("NoSuchParcel", { message: Schema.String }) {}

/** What the tests replace. */
export class Carrier extends Context.Service<
  Carrier,
  { readonly find: (parcel: number) => Effect.Effect<string, CarrierDown | NoSuchParcel> }
>()("recipes/Carrier") {}

const track = Tool.make("track", {
  description: "Where a parcel is.",
  parameters: Schema.Struct({ parcel: Schema.Int }),
  success: Schema.String,
  sideEffects: "none",
  run: ({ parcel }) => Carrier.use(({ find }) => find(parcel))
}).pipe(
  Tool.onError({
    CarrierDown: Recovery.retry({ retries: 2, initialBackoff: "1 second" }),
    NoSuchParcel: Recovery.tell()
  })
)

export const desk = Agent.make("desk", { prompt: "Tell people where their parcels are.", tools: [track] })
