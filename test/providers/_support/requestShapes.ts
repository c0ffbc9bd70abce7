/** What the wires demand of a request, independent of the codecs: finds all faults of a body. */
export type Shape = (body: Record<string, unknown>) => ReadonlyArray<string>

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): ReadonlyArray<Fields> => (Array.isArray(value) ? value.map(fieldsOf) : [])
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)
const isSaid = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** Collects the faults. */
class Problems {
  readonly all: Array<string> = []
  demand(isFine: boolean, problem: string): void {
    if (!isFine) this.all.push(problem)
  }
  fields(what: string, value: Fields, ...allowed: ReadonlyArray<string>): void {
    for (const key of Object.keys(value)) this.demand(allowed.includes(key), `${what} has the field ${key}`)
  }
  schema(what: string, value: unknown): void {
    const schema = fieldsOf(value)
    this.demand(schema["type"] === "object", `${what} is no object`)
    for (const key of ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"]) {
      this.demand(!(key in schema), `${what} has ${key} at its root`)
    }
  }
  /** Checks that each call has one result right behind it, and nothing else. */
  answered(calls: ReadonlyArray<unknown>, answers: ReadonlyArray<unknown>): void {
    this.demand(new Set(calls).size === calls.length, `one id for two calls: ${calls.join()}`)
    const [called, replied] = [[...calls].map(String).toSorted(), [...answers].map(String).toSorted()]
    this.demand(called.join("\n") === replied.join("\n"), `calls ${called.join()} are answered by ${replied.join()}`)
  }
}

interface ChatRules {
  readonly maxId?: number
  readonly tools?: boolean
  readonly images?: boolean
  readonly alternates?: boolean
  readonly output: "json_schema" | "json_object"
  /** Beside role, content and calls of an assistant. */
  readonly assistant?: ReadonlyArray<string>
  /** Whether a message with calls has to hold `reasoning_content`, and whether with words in it. */
  readonly thoughts?: "any" | "words"
}

/** OpenAI's chat completions and its dialects. */
export const chat =
  ({ alternates, assistant = [], images = true, maxId = Infinity, output, thoughts, tools = true }: ChatRules): Shape =>
  (body) => {
    const problems = new Problems()
    const messages = listOf(body["messages"])
    problems.demand(messages.length > 0, "no messages")
    problems.demand(["user", "tool"].includes(String(messages.at(-1)?.["role"])), "the last word is the model's")
    problems.demand(tools || body["tools"] === undefined, "tools are offered")
    for (const [index, message] of messages.entries()) {
      const { content, role } = message
      const before = messages[index - 1]?.["role"]
      const calls = listOf(message["tool_calls"])
      if (alternates === true) {
        problems.demand(role !== before, `two messages of ${String(role)} in a row`)
        problems.demand(role !== "system" || index === 0, "instructions after the first message")
        problems.demand(role !== "assistant" || before === "user", "an assistant without a user before it")
      }
      switch (role) {
        case "system":
          problems.fields("a system message", message, "role", "content")
          problems.demand(isSaid(content), "a system message is empty")
          break
        case "user": {
          problems.fields("a user message", message, "role", "content")
          problems.demand(isSaid(content) || listOf(content).length > 0, "a user message is empty")
          for (const part of listOf(content)) {
            problems.demand(part["type"] === "text" || (images && part["type"] === "image_url"), "a part is not known")
            if (part["type"] === "text") problems.demand(isSaid(part["text"]), "an empty part")
            else problems.demand(isSaid(fieldsOf(part["image_url"])["url"]), "a picture without an address")
          }
          break
        }
        case "assistant": {
          problems.fields("an assistant message", message, "role", "content", "tool_calls", ...assistant)
          problems.demand(!("tool_calls" in message) || calls.length > 0, "an empty list of calls")
          problems.demand(isSaid(content) || (content === null && calls.length > 0), "an assistant message is empty")
          problems.demand(tools || calls.length === 0, "calls where there are no tools")
          for (const call of calls) {
            const { arguments: args, name } = fieldsOf(call["function"])
            problems.demand(isSaid(call["id"]) && String(call["id"]).length <= maxId, `the id ${String(call["id"])}`)
            problems.demand(call["type"] === "function" && isSaid(name), "a call without a name")
            problems.demand(typeof args === "string", "arguments are no text")
          }
          if (thoughts !== undefined && calls.length > 0) {
            const thought = message["reasoning_content"]
            problems.demand(typeof thought === "string" && (thoughts === "any" || thought !== ""), "calls, no thoughts")
          }
          let end = index + 1
          while (messages[end]?.["role"] === "tool") end++
          problems.answered(
            calls.map(({ id }) => id),
            messages.slice(index + 1, end).map((result) => result["tool_call_id"])
          )
          break
        }
        case "tool":
          problems.fields("a result", message, "role", "content", "tool_call_id")
          problems.demand(isSaid(content), "a result is empty")
          problems.demand(before === "tool" || before === "assistant", "a result without a call")
          break
        default:
          problems.demand(false, `the role ${String(role)}`)
      }
    }
    for (const tool of listOf(body["tools"])) {
      const { name, parameters } = fieldsOf(tool["function"])
      problems.demand(tool["type"] === "function" && isSaid(name), "a tool without a name")
      problems.schema(`what ${String(name)} takes`, parameters)
    }
    const format = fieldsOf(body["response_format"])
    problems.demand(format["type"] === output, `the answer is to be ${String(format["type"])}`)
    if (output === "json_schema") {
      const { name, schema } = fieldsOf(format["json_schema"])
      problems.demand(/^[\w-]{1,64}$/.test(String(name)), "the answer has no name")
      problems.schema("the answer", schema)
    } else problems.demand(/json/i.test(JSON.stringify(messages)), "no text says JSON")
    return problems.all
  }

export const anthropic: Shape = (body) => {
  const problems = new Problems()
  const messages = listOf(body["messages"])
  problems.demand(typeof body["max_tokens"] === "number", "no longest reply")
  problems.demand(messages[0]?.["role"] === "user", "the first word is not the user's")
  problems.demand(messages.at(-1)?.["role"] === "user", "the last word is not the user's")
  for (const block of listOf(body["system"])) problems.demand(isSaid(block["text"]), "an empty text of the system")
  const ids: Array<unknown> = []
  for (const [index, { content, role }] of messages.entries()) {
    problems.demand(role !== messages[index - 1]?.["role"], `two messages of ${String(role)} in a row`)
    const blocks = listOf(content)
    problems.demand(blocks.length > 0, "a message is empty")
    problems.demand(!String(blocks.at(-1)?.["type"]).endsWith("thinking"), "a message ends with thoughts")
    const before = listOf(messages[index - 1]?.["content"]).filter(({ type }) => type === "tool_use")
    const results = blocks.filter(({ type }) => type === "tool_result")
    problems.demand(
      blocks.slice(0, results.length).every(({ type }) => type === "tool_result"),
      "results after other words"
    )
    problems.answered(
      before.map(({ id }) => id),
      results.map((result) => result["tool_use_id"])
    )
    const served = blocks.filter(({ type }) => String(type).endsWith("_tool_result"))
    problems.answered(
      blocks.filter(({ type }) => type === "server_tool_use").map(({ id }) => id),
      served.map((result) => result["tool_use_id"])
    )
    for (const block of blocks) {
      const { id, input, type } = block
      const ofModel = ["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result"]
      const allowed = role === "assistant" ? ofModel : ["text", "image", "document", "tool_result"]
      problems.demand(allowed.includes(String(type)), `a block of the type ${String(type)}`)
      if (type === "text") problems.demand(isSaid(block["text"]), "an empty text")
      if (type === "thinking") problems.demand(isSaid(block["signature"]), "thoughts without a signature")
      if (type === "tool_use") {
        ids.push(id)
        problems.demand(/^[\w-]{1,64}$/.test(String(id)), `the id ${String(id)}`)
        problems.demand(isObject(input), "arguments are no object")
      }
      if (type === "tool_result") problems.demand(isSaid(block["content"]), "a result is empty")
    }
  }
  problems.demand(new Set(ids).size === ids.length, "one id for two calls")
  for (const tool of listOf(body["tools"])) problems.schema(`what ${String(tool["name"])} takes`, tool["input_schema"])
  const format = fieldsOf(fieldsOf(body["output_config"])["format"])
  problems.demand(format["type"] === "json_schema", "the answer may be anything")
  problems.schema("the answer", format["schema"])
  return problems.all
}

/** Converse: each block has one member. */
export const bedrock: Shape = (body) => {
  const problems = new Problems()
  const messages = listOf(body["messages"])
  problems.fields(
    "the body",
    body,
    "messages",
    "system",
    "inferenceConfig",
    "toolConfig",
    "additionalModelRequestFields"
  )
  problems.demand(messages[0]?.["role"] === "user" && messages.at(-1)?.["role"] === "user", "who begins, who ends")
  for (const block of listOf(body["system"])) problems.demand(isSaid(block["text"]), "an empty text of the system")
  const membersOf = (message: Fields | undefined, key: string) =>
    listOf(message?.["content"]).flatMap((block) => (key in block ? [fieldsOf(block[key])] : []))
  const ids: Array<unknown> = []
  for (const [index, message] of messages.entries()) {
    const { content, role } = message
    const blocks = listOf(content)
    problems.fields("a message", message, "role", "content")
    problems.demand(role !== messages[index - 1]?.["role"], `two messages of ${String(role)} in a row`)
    problems.demand(blocks.length > 0, "a message is empty")
    problems.demand(!("reasoningContent" in (blocks.at(-1) ?? {})), "a message ends with thoughts")
    const isServers = ({ type }: Fields) => type === "server_tool_use"
    const before = membersOf(messages[index - 1], "toolUse").filter((call) => !isServers(call))
    const results = role === "user" ? membersOf(message, "toolResult") : []
    problems.demand(
      blocks.slice(0, results.length).every((block) => "toolResult" in block),
      "results after other words"
    )
    problems.answered(
      before.map(({ toolUseId }) => toolUseId),
      results.map(({ toolUseId }) => toolUseId)
    )
    for (const block of blocks) {
      const [kind = "", ...others] = Object.keys(block)
      const allowed =
        role === "assistant"
          ? ["text", "reasoningContent", "toolUse", "toolResult"]
          : ["text", "image", "document", "toolResult"]
      problems.demand(others.length === 0 && allowed.includes(kind), `a block with ${Object.keys(block).join()}`)
      if (kind === "text") problems.demand(isSaid(block["text"]), "an empty text")
      const thought = fieldsOf(fieldsOf(block["reasoningContent"])["reasoningText"])
      if ("text" in thought) problems.demand(isSaid(thought["signature"]), "thoughts without a signature")
    }
    for (const call of membersOf(message, "toolUse")) {
      ids.push(call["toolUseId"])
      problems.demand(/^[\w-]{1,64}$/.test(String(call["toolUseId"])), `the id ${String(call["toolUseId"])}`)
      problems.demand(isObject(call["input"]), "arguments are no object")
    }
    for (const result of results) problems.demand(listOf(result["content"]).length > 0, "a result is empty")
  }
  problems.demand(new Set(ids).size === ids.length, "one id for two calls")
  for (const tool of listOf(fieldsOf(body["toolConfig"])["tools"])) {
    const { inputSchema, name } = fieldsOf(tool["toolSpec"])
    problems.schema(`what ${String(name)} takes`, fieldsOf(inputSchema)["json"])
  }
  problems.demand(/json/i.test(JSON.stringify(body["system"])), "no text says JSON")
  return problems.all
}

export const gemini: Shape = (body) => {
  const problems = new Problems()
  const contents = listOf(body["contents"])
  problems.demand(contents[0]?.["role"] === "user" && contents.at(-1)?.["role"] === "user", "who begins, who ends")
  for (const [index, { parts, role }] of contents.entries()) {
    problems.demand(role === "user" || role === "model", `the role ${String(role)}`)
    problems.demand(listOf(parts).length > 0, "a content is empty")
    const functionsOf = (content: Fields | undefined, key: string) =>
      listOf(content?.["parts"]).flatMap((part) => (key in part ? [fieldsOf(part[key])] : []))
    const named = ({ id, name }: Fields) => `${String(name)} ${String(id)}`
    const calls = functionsOf(contents[index], "functionCall")
    const answers = functionsOf(contents[index + 1], "functionResponse")
    problems.demand(
      calls.map(named).join() === answers.map(named).join(),
      `calls ${calls.map(named).join()} are answered by ${answers.map(named).join()}`
    )
    problems.demand(role === "user" || functionsOf(contents[index], "functionResponse").length === 0, "an odd response")
    for (const { args } of calls) problems.demand(isObject(args), "arguments are no object")
    for (const { response } of answers) problems.demand(isObject(response), "a response is no object")
    const first = listOf(parts).find((part) => "functionCall" in part)
    problems.demand(first === undefined || isSaid(first["thoughtSignature"]), "the first call has no signature")
  }
  const [{ functionDeclarations } = {} as Fields] = listOf(body["tools"])
  for (const tool of listOf(functionDeclarations)) {
    problems.schema(`what ${String(tool["name"])} takes`, tool["parametersJsonSchema"])
  }
  const { responseJsonSchema, responseMimeType } = fieldsOf(body["generationConfig"])
  problems.demand(responseMimeType === "application/json" && isObject(responseJsonSchema), "the answer may be anything")
  return problems.all
}

export const ollama: Shape = (body) => {
  const problems = new Problems()
  const messages = listOf(body["messages"])
  problems.demand(body["stream"] === false, "it would be streamed")
  problems.demand(["user", "tool"].includes(String(messages.at(-1)?.["role"])), "the last word is the model's")
  for (const [index, message] of messages.entries()) {
    const { content, images, role } = message
    const calls = listOf(message["tool_calls"])
    problems.fields(
      "a message",
      message,
      "role",
      "content",
      "images",
      "thinking",
      "tool_calls",
      "tool_name",
      "tool_call_id"
    )
    problems.demand(["system", "user", "assistant", "tool"].includes(String(role)), `the role ${String(role)}`)
    problems.demand(typeof content === "string", "a content is no text")
    problems.demand(
      isSaid(content) || calls.length > 0 || images !== undefined || isSaid(message["thinking"]),
      `a message of ${String(role)} is empty`
    )
    for (const call of calls) problems.demand(isObject(fieldsOf(call["function"])["arguments"]), "arguments: no object")
    let end = index + 1
    while (messages[end]?.["role"] === "tool") end++
    if (role === "tool") continue
    problems.answered(
      calls.map(({ id }) => id),
      messages.slice(index + 1, end).map((result) => result["tool_call_id"])
    )
  }
  const tools = listOf(body["tools"])
  for (const tool of tools) {
    const { name, parameters } = fieldsOf(tool["function"])
    problems.schema(`what ${String(name)} takes`, parameters)
  }
  // a format would keep the model from calling
  problems.demand((body["format"] === undefined) === tools.length > 0, "tools beside a format, or neither")
  problems.demand(tools.length === 0 || JSON.stringify(messages).includes("JSON Schema"), "no text has the schema")
  return problems.all
}

export const responses: Shape = (body) => {
  const problems = new Problems()
  const input = listOf(body["input"])
  problems.demand(body["store"] === false, "it would be stored")
  for (const [index, item] of input.entries()) {
    const { content, role, type = "message" } = item
    switch (type) {
      case "message":
        problems.demand(["system", "user", "assistant"].includes(String(role)), `the role ${String(role)}`)
        problems.demand(isSaid(content) || listOf(content).length > 0, `a message of ${String(role)} is empty`)
        break
      case "reasoning": {
        problems.demand(isSaid(item["encrypted_content"]), "thoughts without readable content")
        const next = input[index + 1]
        const isOwn = next?.["role"] === "assistant" || next?.["type"] === "reasoning" || isSaid(next?.["id"])
        problems.demand(isOwn, "thoughts without the item that followed them")
        break
      }
      case "function_call":
        problems.demand(/^[\w-]{1,64}$/.test(String(item["call_id"])), String(item["call_id"]))
        problems.demand(typeof item["arguments"] === "string", "arguments are no text")
        break
      case "function_call_output":
        problems.demand(isSaid(item["output"]), "a result is empty")
        problems.demand(
          input.slice(0, index).some((call) => call["type"] === "function_call" && call["call_id"] === item["call_id"]),
          "a result before its call"
        )
        break
      case "web_search_call":
        problems.demand(isSaid(item["id"]), "a search without a name")
        break
      default:
        problems.demand(false, `an item of the type ${String(type)}`)
    }
  }
  const ids = (of: string) => input.flatMap((item) => (item["type"] === of ? [item["call_id"]] : []))
  problems.answered(ids("function_call"), ids("function_call_output"))
  for (const tool of listOf(body["tools"])) problems.schema(`what ${String(tool["name"])} takes`, tool["parameters"])
  const format = fieldsOf(fieldsOf(body["text"])["format"])
  problems.demand(format["type"] === "json_schema" && /^[\w-]{1,64}$/.test(String(format["name"])), "any answer")
  problems.schema("the answer", format["schema"])
  return problems.all
}

/** The fields that Perplexity's agent API knows: it refuses any other. */
const plainFields: Readonly<Record<string, ReadonlyArray<string>>> = {
  body: ["model", "preset", "input", "store", "temperature", "top_p", "max_output_tokens", "reasoning", "tools"],
  more: ["tool_choice", "parallel_tool_calls", "response_format", "stream"],
  message: ["type", "role", "content"],
  function_call: ["type", "call_id", "name", "arguments", "thought_signature"],
  function_call_output: ["type", "call_id", "name", "output", "thought_signature"],
  input_text: ["type", "text"],
  input_image: ["type", "image_url"],
  function: ["type", "name", "description", "parameters", "strict"],
  web_search: ["type"]
}

export const plainResponses: Shape = (body) => {
  const problems = new Problems()
  const demandFields = (fields: Fields, ...kinds: ReadonlyArray<string>) => {
    const all = new Set(kinds.flatMap((kind) => plainFields[kind] ?? []))
    for (const name of Object.keys(fields)) problems.demand(all.has(name), `unknown field "${name}"`)
  }
  demandFields(body, "body", "more")
  for (const item of [...listOf(body["input"]), ...listOf(body["tools"])]) {
    demandFields(item, String(item["type"]))
    for (const part of listOf(item["content"])) demandFields(part, String(part["type"]))
  }
  const format = fieldsOf(body["response_format"])
  const { json_schema } = format
  // beside the names of its fields it is the form of OpenAI's
  const tools = listOf(body["tools"]).filter(({ type }) => type === "function")
  const others = responses({ ...body, tools, text: { format: { type: format["type"], ...fieldsOf(json_schema) } } })
  return [...problems.all, ...others]
}

/** Every value of a JSON text that has this mark, by whose it is. */
export const marksIn = (json: string): ReadonlyArray<string> => json.match(/(?:mark|aside)<[\w-]+ \d+>/g) ?? []

/** Data that only its provider can read; `aside` is never sent back, not even to that provider. */
export const markOf = (kind: "mark" | "aside", whose: string, count: number): string => `${kind}<${whose} ${count}>`
