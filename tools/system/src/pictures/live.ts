/** A run that is seen while it happens. */
import { Page } from "@kintsugi/view"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { written } from "../../../../test/view/_support/references.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

export const live = async (tab: Tab, report: Report): Promise<void> => {
  const { events } = written("mended")
  const half = events.findIndex(({ type }) => type === "fix-start")
  const isHalfSeen = Promise.withResolvers<void>()
  const asked: Array<string> = []
  const server = createServer(async (request, response) => {
    if (request.url !== "/runs/events") {
      response.setHeader("content-type", "text/html")
      response.end(Page.live({ url: "/runs/events", body: { question: "How many?" } }))
      return
    }
    let body = ""
    for await (const chunk of request) body += String(chunk)
    asked.push(`${request.method} ${body}`)
    response.setHeader("content-type", "text/event-stream")
    const send = (some: typeof events) => {
      for (const event of some) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    send(events.slice(0, half))
    await isHalfSeen.promise
    send(events.slice(half))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    // it is listening on a port
    const { port } = server.address() as AddressInfo
    await tab.open(`http://127.0.0.1:${port}/`)
    await tab.until(
      `document.querySelectorAll(".figure svg g").length > 3 && document.querySelectorAll(".entry").length > 4`
    )
    const early = await tab.evaluate<number>("document.querySelectorAll('.figure svg g').length")
    await tab.evaluate("document.querySelector('.entry .heading').click()")
    isHalfSeen.resolve()
    await tab.until("document.querySelector('.status').textContent === 'The stream has ended.'")
    await tab.until(`document.querySelectorAll(".figure svg g").length > ${early}`)
    report.check(
      "a live page asks for the events of its run",
      asked.join() === 'POST {"question":"How many?"}',
      asked.join()
    )
    report.check("and draws them while they come", early > 3, String(early))
    const chosen = await tab.evaluate<string>(
      "document.querySelector('.entry.is-selected .heading')?.textContent ?? ''"
    )
    report.check("what was chosen stays chosen", chosen === "System", chosen)
    const problems = await tab.evaluate<number>("document.querySelectorAll('.problems').length")
    report.check(
      "at the end nothing is missing",
      problems === 0 && tab.faults.length === 0,
      `${problems} ${tab.faults.join()}`
    )
  } finally {
    isHalfSeen.resolve()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
