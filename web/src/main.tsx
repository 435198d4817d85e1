import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { keepPage, reloadWhenOutdated } from './app/kept/register.ts'
import './app/theme.css'

reloadWhenOutdated()

createRoot(document.getElementById('pawl')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
void keepPage()
