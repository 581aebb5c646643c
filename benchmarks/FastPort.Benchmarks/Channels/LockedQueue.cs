using System.Diagnostics.CodeAnalysis;

namespace FastPort.Benchmarks.Channels;

/// <summary>
/// What one writes without a library: a queue under a lock, and a semaphore for its one reader to wait at. <see cref="_gate"/> guards
/// <see cref="_items"/> and <see cref="_readerWaits"/>.
/// </summary>
internal sealed class LockedQueue<T> : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Queue<T> _items = new();
    private readonly SemaphoreSlim _wake = new(0);
    private bool _readerWaits;

    public void Enqueue(T item)
    {
        bool wake;
        lock (_gate)
        {
            _items.Enqueue(item);
            wake = _readerWaits;
            _readerWaits = false;
        }

        if (wake)
        {
            _wake.Release();
        }
    }

    public bool TryDequeue([MaybeNullWhen(false)] out T item)
    {
        lock (_gate)
        {
            return _items.TryDequeue(out item);
        }
    }

    public T Dequeue()
    {
        while (true)
        {
            lock (_gate)
            {
                if (_items.TryDequeue(out T? item))
                {
                    return item;
                }

                _readerWaits = true;
            }

            _wake.Wait();
        }
    }

    public void Dispose() => _wake.Dispose();
}
