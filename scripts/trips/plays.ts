/** The runs that are measured. They have no listener. */
import { Agent, Message, type Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { note } from "./measuring.ts"

class Missing extends Schema.TaggedError<Missing>()("Missing", { message: Schema.String }) {}

const options = { description: "Looks up a book", parameters: Schema.Struct({ title: Schema.String }) }

const found = Tool.make("lookUp", { ...options, success: Schema.String, run: ({ title }) => Effect.succeed(title) })

const missing = Tool.make("lookUp", {
  ...options,
  success: Schema.String,
  failure: Missing,
  run: ({ title }) =>
    Effect.suspend(() => {
      note("fails")
      return Effect.fail(new Missing({ message: `there is no ${title}` }))
    })
}).pipe(Tool.onError({ Missing: Recovery.tell() }))

const librarian = <T extends Tool.AnyTool>(tool: T) =>
  Agent.make("librarian", { skills: [Skill.make("books", { description: "Knows the books", tools: [tool] })] })

const calling = ScriptedModel.reply({ content: [ScriptedModel.call("lookUp", '{"title":"Emma"}')] })
const answering = ScriptedModel.reply({ content: [Message.text("Done.")] })

/** The replies are made before: then the model itself calls no function of core. */
const play =
  <A, E>(run: () => Effect.Effect<A, E, Model.Model>, ...replies: ReadonlyArray<Message.Reply>) =>
  (): Promise<A> => {
    const steps = replies.map((reply) =>
      ScriptedModel.answers(() => {
        note("asked")
        return Effect.succeed(reply)
      })
    )
    return ScriptedModel.make(...steps).pipe(
      Effect.flatMap(({ layer }) => Effect.provide(Effect.suspend(run), layer)),
      Effect.scoped,
      Effect.runPromise
    )
  }

const silent = Agent.make("librarian", {})
const finding = librarian(found)
const failing = librarian(missing)

export const plays = {
  "a text reply": play(() => silent("Who wrote Emma?"), answering),
  "a successful call": play(() => finding("Who wrote Emma?"), calling, answering),
  "a failure that the model reads": play(() => failing("Who wrote Emma?"), calling, answering)
} as const
