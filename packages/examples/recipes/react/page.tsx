/** The page: a chat that shows text, calls and failures as they come, asks before a call that needs it, and survives a reload. */
import { useChat } from "@ai-sdk/react"
import { DefaultChatTransport, type DynamicToolUIPart, type UIMessage } from "ai"
import { useEffect, useState } from "react"
import { createRoot } from "react-dom/client"

/** The chat of this tab. */
const id = sessionStorage.getItem("chat") ?? crypto.randomUUID()
sessionStorage.setItem("chat", id)
const before: Array<UIMessage> = JSON.parse(sessionStorage.getItem("messages") ?? "[]")
const api = `/chat/${id}`

const textOf = ({ parts }: UIMessage): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const transport = new DefaultChatTransport({
  // the server has the conversation: it gets what is new
  prepareSendMessagesRequest: ({ body = {}, messages }) => {
    const last = messages.at(-1)
    const message = { id: last?.id, text: last && textOf(last) }
    return { api, body: "decision" in body ? body : { message } }
  },
  prepareReconnectToStreamRequest: () => ({ api })
})

type Decision = { type: "approve"; arguments: unknown } | { type: "refuse"; reason: string }

const Page = () => {
  const chat = useChat({
    id,
    messages: before,
    transport,
    // after a reload the server sends the last answer from its beginning, and then what is new of it
    resume: true,
    // the same after a lost connection; what the server does not know yet is sent again by `readOn`
    onFinish: ({ isDisconnect, messages }) => {
      if (isDisconnect && messages.at(-1)?.role === "assistant") void chat.resumeStream()
    }
  })
  const { error, messages, status } = chat
  const isBusy = status === "submitted" || status === "streaming"
  const isLost = error instanceof TypeError

  // the server knows a message by its id, and answers it once
  const readOn = () => void (messages.at(-1)?.role === "user" ? chat.regenerate() : chat.resumeStream())

  const decide = (digest: string, decision: Decision) =>
    void chat.sendMessage(undefined, { body: { decision: { digest, decision } } })

  // the run goes on without its readers: only this ends it
  const stop = () => fetch(api, { method: "DELETE" }).catch(chat.stop)

  useEffect(() => sessionStorage.setItem("messages", JSON.stringify(messages)), [status])

  useEffect(() => {
    if (!isLost) return
    window.addEventListener("online", readOn)
    return () => window.removeEventListener("online", readOn)
  }, [isLost, messages])

  return (
    <>
      <h1>Concierge</h1>
      <div role="log" aria-label="Conversation">
        {messages.map((message) => (
          <article key={message.id} aria-label={message.role === "user" ? "You" : "Concierge"}>
            {message.parts.map((part, index) => {
              if (part.type === "text") return <p key={index}>{part.text}</p>
              if (part.type !== "dynamic-tool") return null
              // the user may have said something else meanwhile: then nothing waits for a decision
              const mayDecide = !isBusy && message === messages.at(-1)
              return <Call key={index} call={part} decide={decide} mayDecide={mayDecide} />
            })}
          </article>
        ))}
      </div>
      {isLost && (
        <p role="alert">
          The connection is lost. <button onClick={readOn}>Try again</button>
        </p>
      )}
      {error && !isLost && <p role="alert">The answer failed: {error.message}</p>}
      <Ask ask={(text) => void chat.sendMessage({ text })} isBusy={isBusy} isLost={isLost} stop={stop} />
    </>
  )
}

interface OfMessage {
  ask: (text: string) => void
  isBusy: boolean
  isLost: boolean
  stop: () => void
}

const Ask = ({ ask, isBusy, isLost, stop }: OfMessage) => {
  const [text, setText] = useState("")
  const send = () => {
    ask(text)
    setText("")
  }
  return (
    <form aria-label="Your message" action={send}>
      <label>
        Message <textarea required value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <button disabled={isBusy || isLost}>Send</button>
      <button type="button" disabled={!isBusy} onClick={stop}>
        Stop
      </button>
    </form>
  )
}

interface OfCall {
  call: DynamicToolUIPart
  decide: (digest: string, decision: Decision) => void
  mayDecide: boolean
}

const Call = ({ call, decide, mayDecide }: OfCall) => (
  <section aria-label={call.toolName}>
    <h2>{call.toolName}</h2>
    {call.state === "approval-requested" ? (
      <Approval key={call.approval.id} call={call} decide={decide} mayDecide={mayDecide} />
    ) : (
      <pre>{JSON.stringify(call.input)}</pre>
    )}
    {call.state === "output-available" && <pre role="status">{JSON.stringify(call.output)}</pre>}
    {call.state === "output-denied" && <p role="status">You have refused it.</p>}
    {call.state === "output-error" && <p role="status">{call.errorText}</p>}
  </section>
)

const Approval = ({ call, decide, mayDecide }: OfCall) => {
  const [text, setText] = useState(JSON.stringify(call.input, null, 2))
  const args = jsonIn(text)
  const { id = "", requestReason } = call.approval ?? {}
  return (
    <form aria-label={`Approve ${call.toolName}`} action={() => decide(id, { type: "approve", arguments: args })}>
      <p>{requestReason}</p>
      <label>
        Arguments <textarea rows={6} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <button disabled={!mayDecide || args === undefined}>Approve</button>
      <button
        type="button"
        disabled={!mayDecide}
        onClick={() => decide(id, { type: "refuse", reason: "The user has refused it." })}
      >
        Refuse
      </button>
    </form>
  )
}

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const main = document.querySelector("main")
if (main !== null) createRoot(main).render(<Page />)
