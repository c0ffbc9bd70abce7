/** The server of `npm run load` with the AI SDK: the same agent, with its own retries. `PORT` and the variables of OpenAI are in the environment. */
import { createOpenAI } from "@ai-sdk/openai"
import {
  APICallError,
  convertToModelMessages,
  generateId,
  pipeUIMessageStreamToResponse,
  stepCountIs,
  streamText,
  tool,
  toUIMessageStream
} from "ai"
import { createServer, type ServerResponse } from "node:http"
import { z } from "zod"

const { MODEL = "", OPENAI_API_KEY = "", OPENAI_BASE_URL = "", PORT } = process.env
const model = createOpenAI({ apiKey: OPENAI_API_KEY, baseURL: OPENAI_BASE_URL }).chat(MODEL)
const orders = new Map([["A-17", { id: "A-17", item: "a lamp", cents: 4900 }]])

const tools = {
  findOrder: tool({
    description: "Looks up an order: what was bought, for how many cents.",
    inputSchema: z.object({ orderId: z.string() }),
    execute: async ({ orderId }) => orders.get(orderId) ?? "There is no such order."
  })
}

const codeOf = (error: unknown): string => {
  if (APICallError.isInstance(error)) return `STATUS-${error.statusCode ?? "NONE"}`
  return error instanceof Error ? error.name : "UNKNOWN"
}

const respond = async (body: string, response: ServerResponse): Promise<void> => {
  const id = generateId()
  const { stream } = streamText({
    model,
    tools,
    system: "You help customers of a shop. Look an order up before you pay anything back.",
    messages: await convertToModelMessages(JSON.parse(body).messages),
    stopWhen: stepCountIs(6),
    // it is written below
    onError: () => {}
  })
  const onError = (error: unknown) => {
    console.log(`${id} has failed: ${codeOf(error)}`)
    return codeOf(error)
  }
  await pipeUIMessageStreamToResponse({
    response,
    stream: toUIMessageStream({ stream, tools, generateMessageId: () => id, onError })
  }).catch((error: unknown) => response.destroy(new Error(onError(error))))
}

createServer((request, response) => {
  if (request.url === "/health") return void response.end("ok")
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (part: string) => {
    body += part
  })
  request.on("end", () => void respond(body, response))
}).listen(Number(PORT), "127.0.0.1")
