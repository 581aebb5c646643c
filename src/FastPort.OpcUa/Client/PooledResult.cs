namespace FastPort.OpcUa.Client;

/// <summary>
/// A result whose byte strings are in pooled memory. The receiver disposes it when the byte strings are no longer used; other values stay
/// valid. Not thread-safe.
/// </summary>
/// <typeparam name="T">The type of the result.</typeparam>
public sealed class PooledResult<T> : IDisposable
{
    private readonly T _value;
    private IDisposable? _owner;
    private bool _isDisposed;

    internal PooledResult(T value, IDisposable? owner)
    {
        _value = value;
        _owner = owner;
    }

    /// <summary>The result.</summary>
    /// <exception cref="ObjectDisposedException">The result was disposed.</exception>
    public T Value
    {
        get
        {
            ObjectDisposedException.ThrowIf(_isDisposed, this);
            return _value;
        }
    }

    /// <summary>Returns the memory to its pool.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _owner?.Dispose();
        _owner = null;
    }
}
