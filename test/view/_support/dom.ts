/** A small document for the scripts of pages: its elements are data, which are written as HTML. It has what these scripts use, and no layout. */
import { afterAll, beforeAll, vi } from "vitest"
import { PageEvent } from "./pageEvent.ts"

type Listener = (event: PageEvent) => void

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

class PageNode {
  parent: PageElement | undefined
  textContent = ""

  remove(): void {
    if (this.parent !== undefined) this.parent.nodes = this.parent.nodes.filter((node) => node !== this)
    this.parent = undefined
  }

  toString(): string {
    return escaped(this.textContent)
  }
}

const textNode = (text: string): PageNode => Object.assign(new PageNode(), { textContent: text })

/** An element; a fragment has an empty name. */
export class PageElement extends PageNode {
  readonly name: string
  readonly attributes = new Map<string, string>()
  readonly listeners: Array<readonly [string, Listener]> = []
  readonly style: Record<string, unknown> = { setProperty: () => undefined }
  nodes: Array<PageNode> = []
  selectedIndex = 0
  scrollTop = 0
  readonly clientWidth = 300
  readonly clientHeight = 520
  readonly scrollHeight = 520
  readonly offsetWidth = 300
  /** Markup that a script has set, which is not read. */
  innerHTML = ""
  #value: string | undefined
  #isChecked: boolean | undefined

  constructor(name: string) {
    super()
    this.name = name
    Object.defineProperty(this, "textContent", {
      get: () => this.nodes.map((node) => node.textContent).join(""),
      set: (text: string) => {
        this.replaceChildren(text)
      }
    })
    Object.defineProperty(this, "open", {
      get: () => this.isShown,
      set: (isUnfolded: boolean) => {
        this.toggleAttribute("open", isUnfolded)
      }
    })
  }

  readonly dataset: Record<string, string | undefined> = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, key) => this.attributes.get(`data-${String(key)}`),
      set: (_, key, value) => this.attributes.set(`data-${String(key)}`, String(value)) !== undefined,
      deleteProperty: (_, key) => this.attributes.delete(`data-${String(key)}`) || true
    }
  )

  readonly classList = {
    all: (): Array<string> => (this.attributes.get("class") ?? "").split(" ").filter((one) => one !== ""),
    contains: (name: string): boolean => this.classList.all().includes(name),
    add: (name: string): boolean => this.classList.toggle(name, true),
    remove: (name: string): boolean => this.classList.toggle(name, false),
    toggle: (name: string, wanted = !this.classList.contains(name)): boolean => {
      const others = this.classList.all().filter((one) => one !== name)
      this.attributes.set("class", [...others, ...(wanted ? [name] : [])].join(" "))
      return wanted
    }
  }

  get parentElement(): PageElement | null {
    return this.parent ?? null
  }

  get children(): ReadonlyArray<PageElement> {
    return this.nodes.filter((node) => node instanceof PageElement)
  }

  get value(): string {
    if (this.name !== "select") return this.#value ?? this.attributes.get("value") ?? ""
    const option = this.children[this.selectedIndex]
    return option?.attributes.get("value") ?? option?.textContent ?? ""
  }

  set value(value: string) {
    this.#value = value
    if (this.name === "select")
      this.selectedIndex = this.children.findIndex((option) => option.attributes.get("value") === value)
  }

  get checked(): boolean {
    return this.#isChecked ?? this.attributes.has("checked")
  }

  set checked(isChecked: boolean) {
    this.#isChecked = isChecked
  }

  set title(title: string) {
    this.attributes.set("title", title)
  }

  set className(name: string) {
    this.attributes.set("class", name)
  }

  get hidden(): boolean {
    return this.attributes.has("hidden")
  }

  set hidden(isHidden: boolean) {
    this.toggleAttribute("hidden", isHidden)
  }

  set id(id: string) {
    this.attributes.set("id", id)
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value)
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null
  }

  /** Whether it is a dialog that is shown. */
  get isShown(): boolean {
    return this.attributes.has("open")
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name)
  }

  toggleAttribute(name: string, wanted: boolean): void {
    if (wanted) this.attributes.set(name, "")
    else this.attributes.delete(name)
  }

  append(...added: ReadonlyArray<PageNode | string>): void {
    for (const one of added) this.insertBefore(typeof one === "string" ? textNode(one) : one, null)
  }

  prepend(...added: ReadonlyArray<PageNode>): void {
    for (const one of added.toReversed()) this.insertBefore(one, this.nodes[0] ?? null)
  }

  replaceChildren(...added: ReadonlyArray<PageNode | string>): void {
    this.nodes = []
    this.append(...added)
  }

  appendChild(added: PageElement): PageElement {
    this.append(added)
    return added
  }

  replaceWith(other: PageElement): void {
    this.parent?.insertBefore(other, this)
    this.remove()
  }

  get isConnected(): boolean {
    return this === page.body || this.parent?.isConnected === true
  }

  insertBefore(added: PageNode, before: PageNode | null): void {
    const nodes = added instanceof PageElement && added.name === "" ? [...added.nodes] : [added]
    for (const node of nodes) {
      node.remove()
      node.parent = this
      this.nodes.splice(before === null ? this.nodes.length : this.nodes.indexOf(before), 0, node)
    }
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.push([type, listener])
  }

  dispatch(event: PageEvent): PageEvent {
    event.target ??= this
    event.currentTarget = this
    for (const [type, listener] of this.listeners) if (type === event.type) listener(event)
    if (this.parent !== undefined && !event.isStopped) this.parent.dispatch(event)
    return event
  }

  click(): void {
    this.dispatch(new PageEvent("click"))
  }

  focus(): void {
    page.activeElement = this
  }

  blur(): void {
    page.activeElement = undefined
  }

  select(): void {
    this.dataset["selected"] = "text"
  }

  setPointerCapture(): void {}

  /** Nothing is painted, unless a test gives the canvas a context. */
  getContext(): unknown {
    return null
  }

  scrollIntoView(): void {
    page.scrolledTo = this
  }

  /** There is no layout: each element is as large as the window. */
  getBoundingClientRect(): {
    readonly left: number
    readonly top: number
    readonly bottom: number
    readonly width: number
  } {
    return { left: 0, top: 0, bottom: 520, width: 100 }
  }

  showModal(): void {
    this.attributes.set("open", "")
  }

  close(): void {
    this.attributes.delete("open")
    this.dispatch(new PageEvent("close"))
  }

  closest(selector: string): PageElement | null {
    return matches(this, selector) ? this : (this.parent?.closest(selector) ?? null)
  }

  /** All elements within this one, in order. */
  get within(): ReadonlyArray<PageElement> {
    return this.children.flatMap((child) => [child, ...child.within])
  }

  querySelectorAll(selector: string): ReadonlyArray<PageElement> {
    if (selector === "") throw new SyntaxError("The provided selector is empty.")
    const own = [...selector.matchAll(/:scope > (\w+)/g)].map(([, name]) => name)
    if (own.length > 0) return this.children.filter(({ name }) => own.includes(name))
    const [last = "", ...around] = selector.split(" ").toReversed()
    return this.within.filter(
      (one) => matches(one, last) && around.every((outer) => one.parent?.closest(outer) !== null)
    )
  }

  querySelector(selector: string): PageElement | null {
    return this.querySelectorAll(selector)[0] ?? null
  }

  override toString(): string {
    const inner = `${this.nodes.join("")}${this.innerHTML}`
    if (this.name === "") return inner
    const attributes = [...this.attributes].map(([key, value]) =>
      value === "" ? ` ${key}` : ` ${key}="${escaped(value)}"`
    )
    return `<${this.name}${attributes.join("")}>${inner}</${this.name}>`
  }
}

/** Whether an element has a name, an id, a class and an attribute: `dialog[open]`, `.heading`, `[aria-selected="true"]`, `a:not([href])`. */
const matches = (one: PageElement, selector: string): boolean => {
  const [, name = "", id, kind, key, value, absent] =
    /^(\w*)(?:#([\w-]+))?(?:\.([\w-]+))?(?:\[([\w-]+)(?:="([^"]*)")?\])?(?::not\(\[([\w-]+)\]\))?$/.exec(selector) ?? []
  return (
    (name === "" || one.name === name) &&
    (id === undefined || one.attributes.get("id") === id) &&
    (absent === undefined || !one.attributes.has(absent)) &&
    (kind === undefined || one.classList.contains(kind)) &&
    (key === undefined || (one.attributes.has(key) && (value === undefined || one.attributes.get(key) === value)))
  )
}

/** Nothing changes its size or comes into view by itself. */
class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

const kindOf = (name: string) => ({
  [Symbol.hasInstance]: (one: unknown) => one instanceof PageElement && one.name === name
})

const systemListeners: Array<() => void> = []

/** The page of the tests of one file. */
export const page: {
  readonly body: PageElement
  readonly root: PageElement
  /** Whether the reader's system is dark. */
  readonly dark: { matches: boolean; readonly addEventListener: (type: string, act: () => void) => void }
  /** Calls what listens to a change of the reader's system. */
  readonly darken: (isDark: boolean) => void
  activeElement: PageElement | undefined
  scrolledTo: PageElement | undefined
  readonly copied: Array<string>
  refusesCopies: boolean
} = {
  body: new PageElement("body"),
  root: new PageElement("html"),
  dark: { matches: false, addEventListener: (_, act) => void systemListeners.push(act) },
  darken: (isDark) => {
    page.dark.matches = isDark
    for (const act of systemListeners) act()
  },
  activeElement: undefined,
  scrolledTo: undefined,
  copied: [],
  refusesCopies: false
}

const body = page.body

/** Presses a key, anywhere or on an element. */
export const press = (key: string, on: PageElement = body): PageEvent => on.dispatch(new PageEvent("keydown", { key }))

/** The element behind the type that the scripts give it. */
// cast: every element of a test is one of this document
export const elementOf = (made: unknown): PageElement => made as PageElement

/** The button with this text, anywhere within an element. */
export const buttonIn = (made: unknown, text: string): PageElement => {
  const found = elementOf(made).within.find((one) => one.name === "button" && one.textContent === text)
  if (found === undefined) throw new Error(`there is no button '${text}'`)
  return found
}

/** Has the document there during the tests of a file. */
export const withPage = (): void => {
  beforeAll(() => {
    const made = (name: string) => new PageElement(name)
    const globals = {
      document: {
        title: "",
        body,
        createElement: made,
        createElementNS: (_: string, name: string) => made(name),
        createDocumentFragment: () => made(""),
        documentElement: page.root,
        querySelector: (selector: string) => body.querySelector(selector),
        querySelectorAll: (selector: string) => body.querySelectorAll(selector),
        get activeElement() {
          return page.activeElement
        }
      },
      Element: PageElement,
      HTMLElement: PageElement,
      HTMLInputElement: kindOf("input"),
      HTMLTextAreaElement: kindOf("textarea"),
      addEventListener: (type: string, listener: Listener) => body.addEventListener(type, listener),
      ResizeObserver: Observer,
      IntersectionObserver: Observer,
      matchMedia: (query: string) => (query.includes("dark") ? page.dark : { matches: false }),
      innerHeight: 520,
      requestAnimationFrame: (act: () => void) => act(),
      scrollBy: () => undefined,
      navigator: {
        clipboard: {
          writeText: (text: string) =>
            page.refusesCopies ? Promise.reject(new Error("no")) : Promise.resolve(void page.copied.push(text))
        }
      }
    }
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
  })
  afterAll(() => {
    vi.unstubAllGlobals()
    body.replaceChildren()
    body.listeners.splice(0)
    page.root.attributes.clear()
    page.activeElement = undefined
  })
}
