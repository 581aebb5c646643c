using System.Globalization;
using System.Text;

namespace FastPort.Telemetry;

/// <summary>The outcome of writing one report.</summary>
/// <param name="FailedFiles">Files that could not be written.</param>
/// <param name="Path">The first of these files.</param>
/// <param name="Error">The first error.</param>
internal readonly record struct FileWriteResult(int FailedFiles, string? Path, Exception? Error);

/// <summary>
/// The .log, .json and .csv files of one <see cref="LatencyStats"/>, and optionally the .hlog and .html files. Used by one task at a time.
/// </summary>
internal sealed class LatencyStatsFiles
{
    // File names have at most 255 bytes, with prefix, start, process id and extension.
    private const int MaxServerNameBytes = 80;

    private readonly string? _serverName;
    private readonly string _directory;
    private readonly string _name;
    private readonly AppendedFile _csv = new(LatencyCsv.Header);
    private readonly AppendedFile? _histogramLog;
    private readonly bool _html;
    private string? _basePath;

    /// <param name="options">Directory, name and kinds of the files. Each write creates the directory if it does not exist.</param>
    /// <param name="started">Local time in the file names.</param>
    /// <param name="role">The role in the file names.</param>
    /// <param name="serverName">The name after the role; null for none.</param>
    internal LatencyStatsFiles(LatencyStatsOptions options, DateTimeOffset started, LatencyRole role, string? serverName = null)
    {
        _serverName = serverName;
        _histogramLog = options.EnableHistogramLog ? new AppendedFile(HdrHistogramLog.Header(started)) : null;
        _html = options.EnableHtmlOutput;
        _directory = Path.GetFullPath(options.OutputDirectory);
        _name = string.Create(
            CultureInfo.InvariantCulture,
            $"{options.OutputFilePrefix}_{started:yyyyMMdd_HHmmss}_{LatencyText.RoleName(role)}{InFileName(serverName)}_"
            + $"{Environment.ProcessId}");
    }

    /// <summary>Characters of CSV rows that wait to be written.</summary>
    internal long PendingCharacters => _csv.PendingCharacters;

    /// <summary>Writes all files; the failure of one does not prevent the others.</summary>
    internal async Task<FileWriteResult> WriteAsync(LatencyReport report, bool final)
    {
        _csv.Add(LatencyCsv.IntervalRows(report));
        _histogramLog?.Add(HdrHistogramLog.IntervalLines(report));

        string basePath;
        try
        {
            Directory.CreateDirectory(_directory);
            basePath = _basePath ??= ClaimName();
        }
        catch (Exception error)
        {
            return new FileWriteResult(3 + (_histogramLog is null ? 0 : 1) + (_html ? 1 : 0), _directory, error);
        }

        var result = default(FileWriteResult);
        result = await TryAsync(
            result, basePath + ".log", path => ReplaceAsync(path, Encoding.UTF8.GetBytes(LatencyTable.Document(report, final))))
            .ConfigureAwait(false);
        ReadOnlyMemory<byte> json = LatencyJson.ToUtf8(report, final, _serverName);
        result = await TryAsync(result, basePath + ".json", path => ReplaceAsync(path, json)).ConfigureAwait(false);
        result = await TryAsync(result, basePath + ".csv", _csv.WriteAsync).ConfigureAwait(false);
        if (_histogramLog is not null)
        {
            result = await TryAsync(result, basePath + ".hlog", _histogramLog.WriteAsync).ConfigureAwait(false);
        }

        return _html
            ? await TryAsync(result, basePath + ".html", path => ReplaceAsync(path, HtmlReport.Create(json))).ConfigureAwait(false)
            : result;
    }

    private static string InFileName(string? serverName)
    {
        if (serverName is null)
        {
            return string.Empty;
        }

        string name = string.Concat(serverName.Select(static c => char.IsLetterOrDigit(c) || c is '-' or '.' ? c : '_'));
        while (Encoding.UTF8.GetByteCount(name) > MaxServerNameBytes)
        {
            name = name[..^1];
        }

        return $"_{name}";
    }

    private static async Task<FileWriteResult> TryAsync(FileWriteResult before, string path, Func<string, Task> write)
    {
        try
        {
            await write(path).ConfigureAwait(false);
            return before;
        }
        catch (Exception error)
        {
            // Any exception of the file system counts as one failed write; the caller reports it.
            return new FileWriteResult(before.FailedFiles + 1, before.Path ?? path, before.Error ?? error);
        }
    }

    // Readers see the old or the new contents, never a part: the rename is atomic.
    private static async Task ReplaceAsync(string path, ReadOnlyMemory<byte> contents)
    {
        var temporary = path + ".tmp";
        try
        {
            await File.WriteAllBytesAsync(temporary, contents).ConfigureAwait(false);
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
            // Ignored: the caller reports the earlier failure.
        }
    }

    // Two writers of one role may start in one process within a second: the writer that creates the .csv file gets the name without a
    // number.
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
                // Another writer has the name: try the next number.
            }
        }
    }
}
