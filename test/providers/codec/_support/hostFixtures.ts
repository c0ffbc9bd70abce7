/**
 * The recorded answers of other hosts, with what their bytes say where the independent reader says something else, and
 * why. That reader was written for the eight providers.
 */
import { assert } from "@effect/vitest"
import { type Fixture, ofHosts } from "../../../_support/wireFixtures.ts"

type Expected = Fixture["expected"]

/** What is different, for which recordings, and why. */
interface Deviation {
  readonly why: string
  readonly of: ReadonlyArray<readonly [id: string, expected: Expected]>
}

const failed = (category: string, retrySameRequest = false): Expected => ({ error: { category, retrySameRequest } })

const thoughts = (reasoningLength: number): Expected => ({ reasoningLength })

const tokens = (input: number, output: number, others: NonNullable<Expected["usage"]> = {}): Expected => ({
  usage: { input, output, ...others }
})

export const deviations: ReadonlyArray<Deviation> = [
  {
    why: "the reader expects nothing of failures",
    of: [
      ["aiplatform-googleapis-com-56", failed("INVALID_REQUEST")],
      ["api-groq-com-65", failed("MODEL_NOT_FOUND")],
      ["api-groq-com-77", failed("MODEL_NOT_FOUND")],
      // the model wrote a call that does not fit, or no call although one was demanded
      ["api-groq-com-78", failed("MALFORMED_TOOL_CALL", true)],
      ["api-groq-com-80", failed("MALFORMED_TOOL_CALL", true)],
      ["api-mistral-ai-81", failed("AUTHENTICATION_FAILED")]
    ]
  },
  {
    why: "MODEL_ARMOR is a filter of Vertex: the reply is empty, and its finishMessage says that it violated the settings",
    of: [["aiplatform-googleapis-com-47", { ...failed("CONTENT_FILTERED"), outcome: "filtered" }]]
  },
  {
    why: "Mistral has reasoning among the parts of the content, which the reader skips",
    of: [
      ["ai-sdk-mistral-20", thoughts(60)],
      ["api-mistral-ai-87", thoughts(2379)],
      ["api-mistral-ai-88", thoughts(421)],
      ["api-mistral-ai-91", thoughts(121)]
    ]
  },
  {
    why: "the reader skips the reasoning of a response, whole or as a summary",
    of: [
      ["ai-sdk-azure-9", thoughts(399)],
      ["ai-sdk-open-responses-24", thoughts(17)],
      ["ai-sdk-open-responses-26", thoughts(241)],
      ["api-x-ai-93", thoughts(72)],
      ["api-x-ai-94", thoughts(93)],
      ["api-x-ai-95", thoughts(106)],
      ["api-x-ai-96", thoughts(87)],
      ["api-x-ai-97", thoughts(78)],
      ["api-x-ai-98", thoughts(68)],
      ["api-x-ai-99", thoughts(67)],
      ["api-x-ai-100", thoughts(77)],
      ["api-x-ai-101", thoughts(54)],
      ["api-x-ai-102", thoughts(65)],
      ["api-x-ai-103", thoughts(78)],
      ["api-x-ai-104", thoughts(55)],
      ["api-x-ai-105", thoughts(35)],
      ["api-x-ai-106", thoughts(1201)]
    ]
  },
  {
    why: "xAI counts reasoning beside completion_tokens: total_tokens is the sum of prompt, completion and reasoning",
    of: [
      ["ai-sdk-openai-compatible-28", tokens(12, 2 + 320, { cachedInput: 2, reasoning: 320 })],
      ["ai-sdk-openai-compatible-29", tokens(307, 26 + 255, { cachedInput: 244, reasoning: 255 })],
      ["ai-sdk-xai-36", tokens(12, 1 + 228, { cachedInput: 2, reasoning: 228 })],
      ["ai-sdk-xai-37", tokens(291, 26 + 196, { cachedInput: 290, reasoning: 196 })],
      ["ai-sdk-xai-38", tokens(291, 26 + 189, { cachedInput: 244, reasoning: 189 })]
    ]
  },
  {
    why: "Azure counts the cached input of Grok beside prompt_tokens: there are more cached tokens than tokens of the prompt",
    of: [
      ["services-ai-azure-com-129", tokens(23 + 190, 110, { cachedInput: 190 })],
      ["services-ai-azure-com-130", tokens(154 + 164, 274, { cachedInput: 164 })],
      ["services-ai-azure-com-131", tokens(7 + 161, 1, { cachedInput: 161 })],
      ["services-ai-azure-com-132", tokens(23 + 158, 110, { cachedInput: 158 })],
      ["services-ai-azure-com-133", tokens(24 + 161, 2, { cachedInput: 161 })],
      ["services-ai-azure-com-135", tokens(325 + 417, 17, { cachedInput: 417 })],
      ["services-ai-azure-com-137", tokens(235 + 373, 90, { cachedInput: 373 })],
      ["services-ai-azure-com-138", tokens(377 + 515, 69, { cachedInput: 515 })],
      ["services-ai-azure-com-141", tokens(7 + 161, 8, { cachedInput: 161 })]
    ]
  },
  {
    why: "the reader does not know cache_write_tokens",
    of: [
      ["bedrock-mantle-REGION-api-aws-113", tokens(115, 14, { cacheWrite: 27 })],
      ["bedrock-mantle-REGION-api-aws-115", tokens(158, 32, { cacheWrite: 43, reasoning: 10 })]
    ]
  },
  {
    why: "the file holds the streams of four answers; a stream is over at its first end, and the reader shows the last",
    of: [
      [
        "ai-sdk-azure-8",
        {
          ...tokens(137, 28),
          outcome: "tool-calls",
          text: "",
          textLength: 0,
          textSha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          reasoningLength: 455,
          toolCalls: [{ id: "call_UdvUeOElp5zdU0DKr6IoyhjE", name: "calculator", args: { op: "add", a: 12, b: 7 } }]
        }
      ]
    ]
  },
  {
    why: "the file holds the streams of three answers without an end between them; two calls with two ids are two calls",
    of: [
      [
        "ai-sdk-cerebras-14",
        {
          toolCalls: [
            { id: "bbd2b9d98", name: "nonUsefulTool", args: {} },
            { id: "e0ecf32e0", name: "nonUsefulTool", args: {} }
          ]
        }
      ]
    ]
  }
]

export const hostFixtures: ReadonlyArray<Fixture> = ofHosts().map((fixture) => {
  const found = deviations.flatMap(({ of }) => of.filter(([id]) => id === fixture.id))
  assert.isAtMost(found.length, 1, `${fixture.id} is described twice`)
  return { ...fixture, expected: { ...fixture.expected, ...found[0]?.[1] } }
})
