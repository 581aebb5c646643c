using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>The outcome of writing one report.</summary>
/// <param name="FailedFiles">Files that could not be written.</param>
/// <param name="Path">The first of them.</param>
/// <param name="Error">Why.</param>
internal readonly record struct FileWriteResult(int FailedFiles, string? Path, Exception? Error);

/// <summary>The .log, .json and .csv files of one <see cref="LatencyStats"/>. Used by one task at a time.</summary>
internal sealed class LatencyStatsFiles
{
    /// <summary>Intervals of CSV rows kept while the disk fails; older ones are given up.</summary>
    internal const int MaxPendingIntervals = 64;

    private readonly string _directory;
    private readonly string _name;
    private readonly Queue<string> _pendingRows = new();
    private string? _basePath;
    private long _csvLength;

    /// <param name="directory">Made when missing, at each write.</param>
    /// <param name="prefix">First part of the names.</param>
    /// <param name="started">Local time that goes into the names.</param>
    /// <param name="role">Goes into the names.</param>
    internal LatencyStatsFiles(string directory, string prefix, DateTimeOffset started, LatencyRole role)
    {
        _directory = Path.GetFullPath(directory);
        _name = string.Create(
            CultureInfo.InvariantCulture,
            $"{prefix}_{started:yyyyMMdd_HHmmss}_{LatencyText.RoleName(role)}_{Environment.ProcessId}");
    }

    /// <summary>Writes all three files; a failure of one does not keep the others from being written.</summary>
    internal async Task<FileWriteResult> WriteAsync(LatencyReport report, bool final)
    {
        _pendingRows.Enqueue(LatencyCsv.IntervalRows(report));
        if (_pendingRows.Count > MaxPendingIntervals)
        {
            _pendingRows.Dequeue();
        }

        string basePath;
        try
        {
            Directory.CreateDirectory(_directory);
            basePath = _basePath ??= ClaimName();
        }
        catch (Exception error)
        {
            return new FileWriteResult(3, _directory, error);
        }

        var result = default(FileWriteResult);
        result = await TryAsync(
            result, basePath + ".log", path => ReplaceAsync(path, Encoding.UTF8.GetBytes(LatencyTable.Document(report, final))));
        result = await TryAsync(result, basePath + ".json", path => ReplaceAsync(path, LatencyJson.ToUtf8(report, final)));
        return await TryAsync(result, basePath + ".csv", AppendPendingAsync);
    }

    private static async Task<FileWriteResult> TryAsync(FileWriteResult before, string path, Func<string, Task> write)
    {
        try
        {
            await write(path);
            return before;
        }
        catch (Exception error)
        {
            // Whatever the file system throws is one failed write; the caller reports it.
            return new FileWriteResult(before.FailedFiles + 1, before.Path ?? path, before.Error ?? error);
        }
    }

    // Readers see the old contents or the new, never a part: a rename replaces the name at once.
    private static async Task ReplaceAsync(string path, ReadOnlyMemory<byte> contents)
    {
        var temporary = path + ".tmp";
        try
        {
            await File.WriteAllBytesAsync(temporary, contents);
            File.Move(temporary, path, overwrite: true);
        }
        catch
        {
            TryDelete(temporary);
            throw;
        }
    }

    private static void TryDelete(string path)
    {
        try
        {
            File.Delete(path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The earlier failure is the one to report.
        }
    }

    // Two writers of one role may start in one process within a second: the one that creates the .csv has the plain name.
    private string ClaimName()
    {
        for (var number = 1; ; number++)
        {
            var candidate = Path.Combine(
                _directory, number == 1 ? _name : string.Create(CultureInfo.InvariantCulture, $"{_name}_{number}"));
            try
            {
                using (new FileStream(candidate + ".csv", FileMode.CreateNew, FileAccess.Write))
                {
                    return candidate;
                }
            }
            catch (IOException) when (File.Exists(candidate + ".csv"))
            {
                // Taken by another: the next number.
            }
        }
    }

    private async Task AppendPendingAsync(string path)
    {
        var file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.Write, FileShare.Read, bufferSize: 0, useAsync: true);
        await using (file)
        {
            // Rows cut short by a full disk are removed; a file that was deleted begins again with its header.
            var kept = Math.Min(_csvLength, file.Length);
            file.SetLength(kept);
            file.Position = kept;
            var text = (kept == 0 ? LatencyCsv.Header : "") + string.Concat(_pendingRows);
            await file.WriteAsync(Encoding.UTF8.GetBytes(text));
            _csvLength = file.Position;
        }

        _pendingRows.Clear();
    }
}
