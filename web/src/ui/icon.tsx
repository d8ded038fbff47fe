// Signs, drawn on a grid of 16; they take the colour of the text and say nothing to a screen reader.

const paths = {
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.4 10.4 13.5 13.5',
  up: 'M8 13V3.5M3.8 7.5 8 3.3l4.2 4.2',
  down: 'M8 3v9.5M3.8 8.5 8 12.7l4.2-4.2',
  stop: 'M4.5 4.5h7v7h-7z',
  chevron: 'm6 3.5 4.5 4.5L6 12.5',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  cross: 'm4 4 8 8M12 4l-8 8',
  panel: 'M2.5 3.5h11v9h-11zM9.5 3.5v9',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.6A5.5 5.5 0 0 1 6.4 3a5.5 5.5 0 1 0 6.6 6.6Z',
  auto: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM8 2.5v11M8 5h3.8M8 8h5.4M8 11h3.8',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  terminal: 'M2.5 3.5h11v9h-11zM5 6.5 6.8 8 5 9.7M8.5 10h2.5',
  pencil: 'm3 13 .7-3L10.5 3.2l2.3 2.3L6 12.3 3 13ZM9.2 4.5l2.3 2.3',
  globe: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM2.5 8h11M8 2.5c2 1.6 2.6 3.4 2.6 5.5S10 11.9 8 13.500c-2-1.6-2.6-3.4-2.6-5.500S6 4.1 8 2.500Z',
  thought: 'M5 12.500h6M6 14.500h4M8 1.500a4.5 4.5 0 0 0-2.6 8.200V11h5.200V9.700A4.5 4.5 0 0 0 8 1.500Z',
  fork: 'M4.5 5.500v5M4.5 5.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4.5 13.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 5.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 5.500c0 3-7 1.5-7 5',
  undo: 'M3 6.500h6.500a3.2 3.2 0 0 1 0 6.500H6M5.7 3.5 2.7 6.500l3 3',
  copy: 'M5.5 5.500h7v8h-7zM3.5 10.500v-8h7',
  list: 'M6 4.500h7.500M6 8h7.500M6 11.500h7.500M2.7 4.500h.6M2.7 8h.6M2.7 11.500h.6',
  gear: 'M3 5h4M10 5h3M3 11h3M9 11h4M8.5 6.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM7.5 12.500a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  key: 'M2.5 4.500h11v7h-11zM5 9.500h6M5 6.800h.5M7.8 6.800h.5M10.5 6.800h.5',
  dots: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  agent: 'M8 7.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.500c.4-2.5 2.4-4 5-4s4.6 1.5 5 4',
  picture: 'M2.5 3.500h11v9h-11zM2.5 11l3.5-3.5 3 3 1.5-1.5 3 3M10.5 6.500h.01',
  lock: 'M4 7.500h8v6H4zM5.5 7.500v-2a2.5 2.5 0 0 1 5 0v2',
  bolt: 'M9 1.5 3.5 9H8l-1 5.500L12.5 7H8l1-5.500Z',
}

export type IconName = keyof typeof paths

export function Icon({ name, turn }: { name: IconName; turn?: boolean }) {
  return (
    <svg class={turn ? 'icon turned' : 'icon'} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}

// Mark is hew's own sign: a block with a notch hewn out of it.
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" width="20" height="20" aria-hidden="true" focusable="false">
      <path d="M2 3.500A1.5 1.5 0 0 1 3.5 2h9A1.5 1.5 0 0 1 14 3.500V7L9.5 9.5 14 12v.5a1.5 1.5 0 0 1-1.5 1.500h-9A1.5 1.5 0 0 1 2 12.500Z" />
    </svg>
  )
}
