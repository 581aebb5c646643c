using System.Text;

namespace FastPort.Telemetry.Reports;

/// <summary>
/// A text file that grows by what each interval adds. What could not be written waits, within limits; what was cut short is written anew.
/// Used by one task at a time.
/// </summary>
/// <param name="header">The first lines of the file.</param>
internal sealed class AppendedFile(string header)
{
    /// <summary>Intervals kept while the disk fails; older ones are given up.</summary>
    internal const int MaxPendingIntervals = 64;

    /// <summary>Characters of them. Thousands of sessions make an interval of megabytes; the newest is kept whatever its length.</summary>
    internal const int MaxPendingCharacters = 8 * 1024 * 1024;

    private readonly Queue<string> _pending = new();
    private long _length;

    /// <summary>Characters that wait for the disk.</summary>
    internal long PendingCharacters { get; private set; }

    /// <summary>Adds what the next <see cref="WriteAsync"/> writes.</summary>
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
        await using (file)
        {
            // Lines cut short by a full disk go; a file that somebody removed begins anew with its header.
            long kept = Math.Min(_length, file.Length);
            file.SetLength(kept);
            file.Position = kept;
            await file.WriteAsync(Encoding.UTF8.GetBytes((kept == 0 ? header : "") + string.Concat(_pending)));
            _length = file.Position;
        }

        _pending.Clear();
        PendingCharacters = 0;
    }
}
