/** What a user attaches, in odd forms: it goes out whole and once, or is refused by its kind [P1408]. */
import * as Message from "@kintsugi/core/Message"
import { Effect } from "effect"
import type { Api } from "../../../../test/_support/wireFixtures.ts"
import { both, brain, each, isGood } from "./answers.ts"
import type { Expected, Scenario, Serve } from "./scenario.ts"

const bytesOf = (size: number) => Buffer.alloc(size, "kintsugi").toString("base64")

const names = ["a.pdf", "", "..\\..\\etc", "grüße 🙂.pdf", 'a"b.pdf', "a\nb.pdf", "x".repeat(10_000)]

/** An answer that is good if the bytes stand in the body once. */
const onceIn = (data: string): Serve => ({
  type: "handler",
  handler: (request) =>
    request.text.split(data).length === 2
      ? brain()(request)
      : Effect.succeed({ status: 418, body: "the bytes are not there once" })
})

/** Ollama takes images alone. */
const refused: Expected = { tags: ["CapabilityMismatchError"], sends: 0 }
const takes = (api: Api): Expected => (api === "ollama" ? refused : isGood)

const attached = (
  name: string,
  part: (data: string) => Message.User["content"][number],
  size: number,
  expected: (api: Api) => Expected
) => {
  const data = bytesOf(size)
  return each("attached", name, (api) => ({
    modes: both,
    says: [Message.text("Look"), part(data)],
    serve: onceIn(data),
    expected: expected(api)
  }))
}

export const attachments: ReadonlyArray<Scenario> = [
  ...[30, 3_000_000].flatMap((size) =>
    attached(
      `an image of ${size} bytes`,
      (data) => Message.image("image/png", { data }),
      size,
      () => isGood
    )
  ),
  ...names.flatMap((name) =>
    attached(
      `a file whose name is ${JSON.stringify(name.slice(0, 20))}`,
      (data) => Message.file("application/pdf", { data }, name),
      30,
      takes
    )
  )
]
