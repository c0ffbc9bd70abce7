/** One model call over loopback, in turn and 64 at once, and a stream of 20,000 deltas: the `openai` SDK and ours beside `fetch`. */
import OpenAI from "openai"
import { overWire } from "../../src/besideWire.ts"
import { type Figure, report, times } from "../../src/figures.ts"
import { assertEqual, interleaved, type Subject, typical } from "../../src/harness.ts"
import { answer, deltas, text, withServer } from "../../src/loopback.ts"

const calls = 256
const atOnce = 64
const body = { model: "m", messages: [{ role: "user", content: "go" }] } as const

interface Caller {
  readonly name: string
  readonly call: () => Promise<string>
  /** How many characters of a stream were read. */
  readonly read: () => Promise<number>
}

const byFetch = (url: string): Caller => {
  const send = (fields: object) =>
    fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer bench-key" },
      body: JSON.stringify({ ...body, ...fields })
    })
  return {
    name: "fetch",
    call: async () => JSON.parse(await (await send({})).text()).choices[0].message.content,
    read: async () => {
      const response = await send({ stream: true })
      const decoder = new TextDecoder()
      let [rest, read] = ["", 0]
      for await (const chunk of response.body ?? []) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) {
          if (!line.startsWith("data: ") || line === "data: [DONE]") continue
          read += (JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").length
        }
      }
      return read
    }
  }
}

const bySdk = (url: string): Caller => {
  const client = new OpenAI({ apiKey: "bench-key", baseURL: url })
  const messages = [...body.messages]
  return {
    name: "openai SDK",
    call: async () =>
      (await client.chat.completions.create({ model: body.model, messages })).choices[0]?.message.content ?? "",
    read: async () => {
      let read = 0
      const stream = await client.chat.completions.create({ model: body.model, messages, stream: true })
      for await (const part of stream) read += part.choices[0]?.delta.content?.length ?? 0
      return read
    }
  }
}

const portions = ({ call, name, read }: Caller): ReadonlyArray<Subject> => [
  {
    name: `${name}, in turn`,
    portion: async () => {
      let done = 0
      for (let i = 0; i < calls; i++) if ((await call()) === answer) done++
      assertEqual(name, done, calls)
    }
  },
  {
    name: `${name}, ${atOnce} at once`,
    portion: async () => {
      let done = 0
      const lane = async () => {
        for (let i = 0; i < calls / atOnce; i++) if ((await call()) === answer) done++
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
      assertEqual(name, done, calls)
    }
  },
  { name: `${name}, stream`, portion: async () => assertEqual(name, await read(), deltas * text.length) }
]

await withServer(async (url) => {
  const ours = overWire(url)
  const callers = [byFetch(url), bySdk(url), ours]
  const samples = await interleaved(callers.flatMap(portions), { laps: 9 })
  for (const way of ["in turn", `${atOnce} at once`, "stream"]) {
    const figure = ({ name }: Caller): Figure => ({
      name: `${name}, ${way}`,
      value:
        way === "stream" ? typical(samples, `${name}, ${way}`) : (typical(samples, `${name}, ${way}`) * 1000) / calls,
      unit: way === "stream" ? "ms" : "µs"
    })
    const ratios = callers
      .slice(1)
      .map(({ name }) => times(`${name} to fetch, ${way}`, samples, [`${name}, ${way}`, `fetch, ${way}`]))
    report(`over loopback, ${way}`, [...callers.map(figure), ...ratios])
  }
  await ours.dispose()
})
