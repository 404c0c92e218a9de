"""Off-screen OpenGL through EGL or OSMesa, straight from the system's libraries. Owns making a context and freeing it.

MuJoCo's own way to them needs PyOpenGL, which is large and fails in many ways while it is imported; the few functions
that are needed are called here by themselves. A context belongs to the thread that makes it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

GlPlatform = Literal["egl", "osmesa"]
PLATFORMS: tuple[GlPlatform, ...] = ("egl", "osmesa")
"""In the order in which they are tried: EGL may have a graphics card behind it."""

GL_WORKS = "GL works"
"""What `engine.scene.gl_probe` says when a picture shows what it should."""

_Pointer = ctypes.c_void_p
_Int = ctypes.c_int
_Unsigned = ctypes.c_uint

_EGL_LIBRARY = "libEGL.so.1"
_EGL_PLATFORM_DEVICE = 0x313F
_EGL_OPENGL_API = 0x30A2
_EGL_NONE = 0x3038
_EGL_ATTRIBUTES = (
    *(0x3024, 8, 0x3023, 8, 0x3022, 8, 0x3021, 8),  # red, green, blue and alpha size
    *(0x3025, 24, 0x3026, 8),  # depth and stencil size
    *(0x3033, 0x0001),  # surface type: pbuffer
    *(0x3040, 0x0008),  # renderable type: OpenGL
    _EGL_NONE,
)
_MOST_DEVICES = 16

_OSMESA_LIBRARIES = ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so")
_OSMESA_RGBA = 0x1908
_OSMESA_DEPTH_BITS = 24
_OSMESA_STENCIL_BITS = 8
_GL_UNSIGNED_BYTE = 0x1401
_OSMESA_SIDE = 16
"""Pixels of the window that OSMesa wants; pictures are rendered into buffers of their own."""


class NoContextError(Exception):
    """Raised when this machine gives no context of that kind. The text says what is missing."""


@contextmanager
def gl_context(platform: GlPlatform) -> Generator[None]:
    """A context that is current in this thread while it is entered. Raises `NoContextError`."""
    with _egl_context() if platform == "egl" else _osmesa_context():
        yield


@contextmanager
def _egl_context() -> Generator[None]:
    library = _library(_EGL_LIBRARY)
    make_current = _function(library, "eglMakeCurrent", _Unsigned, _Pointer, _Pointer, _Pointer, _Pointer)
    display = _egl_display(library)
    configuration, found = (_Pointer * 1)(), _Int()
    attributes = (_Int * len(_EGL_ATTRIBUTES))(*_EGL_ATTRIBUTES)
    choose = _function(library, "eglChooseConfig", _Unsigned, _Pointer, _Pointer, _Pointer, _Int, _Pointer)
    if not choose(display, attributes, configuration, 1, ctypes.byref(found)) or not found.value:
        raise NoContextError("EGL has no configuration with OpenGL and a depth buffer")
    _function(library, "eglBindAPI", _Unsigned, _Unsigned)(_EGL_OPENGL_API)
    create = _function(library, "eglCreateContext", _Pointer, _Pointer, _Pointer, _Pointer, _Pointer)
    context = create(display, configuration[0], None, None)
    if not context:
        raise NoContextError("EGL gives no OpenGL context")
    try:
        if not make_current(display, None, None, context):
            raise NoContextError("EGL's context cannot be used without a surface")
        yield
    finally:
        make_current(display, None, None, None)
        _function(library, "eglDestroyContext", _Unsigned, _Pointer, _Pointer)(display, context)
        _function(library, "eglReleaseThread", _Unsigned)()


def _egl_display(library: ctypes.CDLL) -> int:
    """A display without a screen. It stays for the life of the process: EGL gives the same one to every caller."""
    query = _egl_extension(library, "eglQueryDevicesEXT", _Unsigned, _Int, _Pointer, _Pointer)
    open_display = _egl_extension(library, "eglGetPlatformDisplayEXT", _Pointer, _Unsigned, _Pointer, _Pointer)
    initialize = _function(library, "eglInitialize", _Unsigned, _Pointer, _Pointer, _Pointer)
    devices, count = (_Pointer * _MOST_DEVICES)(), _Int()
    query(_MOST_DEVICES, devices, ctypes.byref(count))
    for device in devices[: count.value]:
        display = open_display(_EGL_PLATFORM_DEVICE, device, None)
        if display and initialize(display, None, None):
            return display
    raise NoContextError(f"none of EGL's {count.value} devices can be used")


def _egl_extension(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    address = _function(library, "eglGetProcAddress", _Pointer, ctypes.c_char_p)(name.encode())
    if not address:
        raise NoContextError(f"EGL has no {name}")
    return ctypes.CFUNCTYPE(result, *arguments)(address)


@contextmanager
def _osmesa_context() -> Generator[None]:
    library = _library(*_OSMESA_LIBRARIES)
    make_current = _function(library, "OSMesaMakeCurrent", _Unsigned, _Pointer, _Pointer, _Unsigned, _Int, _Int)
    create = _function(library, "OSMesaCreateContextExt", _Pointer, _Unsigned, _Int, _Int, _Int, _Pointer)
    context = create(_OSMESA_RGBA, _OSMESA_DEPTH_BITS, _OSMESA_STENCIL_BITS, 0, None)
    if not context:
        raise NoContextError("OSMesa gives no context")
    window = ctypes.create_string_buffer(_OSMESA_SIDE * _OSMESA_SIDE * 4)
    try:
        if not make_current(context, window, _GL_UNSIGNED_BYTE, _OSMESA_SIDE, _OSMESA_SIDE):
            raise NoContextError("OSMesa's context cannot be used")
        yield
    finally:
        make_current(None, None, _GL_UNSIGNED_BYTE, 0, 0)
        _function(library, "OSMesaDestroyContext", None, _Pointer)(context)


def _library(*names: str) -> ctypes.CDLL:
    for name in names:
        try:
            # Global, because MuJoCo looks in the whole process for whoever gives out OpenGL's functions.
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise NoContextError(f"{names[0]} is not installed")


def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    try:
        function = getattr(library, name)
    except AttributeError as error:
        raise NoContextError(f"the library has no {name}") from error
    function.restype, function.argtypes = result, arguments
    return function
