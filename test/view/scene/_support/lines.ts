import { Recording, Scene } from "@kintsugi/view"

/**
 * The items that are drawn for these events, one line each: the layer, the time, the part and the state of a span or the tone of a mark, the
 * label, the indexes of its events, and the index of its subject.
 */
export const linesOf = (events: ReadonlyArray<object>): ReadonlyArray<string> => {
  const { items, lanes } = Scene.make(Recording.fromEvents(events))
  return items.map((one) => {
    const when = one.shape === "span" ? `${one.from}-${one.to} ${one.part} ${one.state}` : `${one.at} ${one.tone}`
    return `${lanes[one.lane]?.layer} ${when}: ${one.label} (${one.events.join()}; ${one.subject})`
  })
}
