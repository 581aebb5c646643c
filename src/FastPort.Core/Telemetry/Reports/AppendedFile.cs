using System.Text;

namespace FastPort.Telemetry;

/// <summary>
/// A text file to which each interval appends. Text that could not be written waits, within limits; text that was written in part is
/// written again. Used by one task at a time.
/// </summary>
/// <param name="header">The first lines of the file.</param>
internal sealed class AppendedFile(string header)
{
    /// <summary>Maximum number of intervals kept while the disk fails; older ones are dropped.</summary>
    internal const int MaxPendingIntervals = 64;

    /// <summary>
    /// Maximum number of characters of these intervals. An interval of thousands of sessions has megabytes; the newest interval is kept,
    /// regardless of its length.
    /// </summary>
    internal const int MaxPendingCharacters = 8 * 1024 * 1024;

    private readonly Queue<string> _pending = new();
    private long _length;

    /// <summary>Characters that wait to be written.</summary>
    internal long PendingCharacters { get; private set; }

    /// <summary>Adds text for the next <see cref="WriteAsync"/>.</summary>
    internal void Add(string text)
    {
        _pending.Enqueue(text);
        PendingCharacters += text.Length;
        while (_pending.Count > MaxPendingIntervals || (_pending.Count > 1 && PendingCharacters > MaxPendingCharacters))
        {
            PendingCharacters -= _pending.Dequeue().Length;
        }
    }

    internal async Task WriteAsync(string path)
    {
        var file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.Write, FileShare.Read, bufferSize: 0, useAsync: true);
        await using (file.ConfigureAwait(false))
        {
            await AppendAsync(file).ConfigureAwait(false);
        }
    }

    internal async Task AppendAsync(Stream file)
    {
        // Removes the remains of a failed write, if any. A file that was deleted starts again with its header.
        long kept = Math.Min(_length, file.Length);
        file.SetLength(kept);
        file.Position = kept;
        try
        {
            await file.WriteAsync(Encoding.UTF8.GetBytes((kept == 0 ? header : "") + string.Concat(_pending)))
                .ConfigureAwait(false);
        }
        catch
        {
            // A full disk has stored a part, and there may be no later write.
            file.SetLength(kept);
            throw;
        }

        _length = file.Position;
        _pending.Clear();
        PendingCharacters = 0;
    }
}
