import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import './app/theme.css'

createRoot(document.getElementById('pawl')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
