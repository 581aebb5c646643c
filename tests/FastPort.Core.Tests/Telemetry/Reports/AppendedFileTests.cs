using System.Text;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry.Reports;

/// <summary>Files to which each interval appends, on a disk that fills.</summary>
public sealed class AppendedFileTests
{
    [Fact]
    public async Task A_row_that_a_full_disk_takes_in_part_is_removed_and_comes_whole_later()
    {
        var file = new AppendedFile("header\n");
        using var disk = new FullDisk();
        file.Add("first\n");
        await file.AppendAsync(disk);
        file.Add("second\n");

        disk.Room = 3;
        await Assert.ThrowsAsync<IOException>(() => file.AppendAsync(disk));
        Assert.Equal("header\nfirst\n", disk.Text);

        disk.Room = int.MaxValue;
        await file.AppendAsync(disk);
        Assert.Equal("header\nfirst\nsecond\n", disk.Text);
    }

    private sealed class FullDisk : MemoryStream
    {
        public int Room { get; set; } = int.MaxValue;

        public string Text => Encoding.UTF8.GetString(ToArray());

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Write(buffer.Span[..Math.Min(Room, buffer.Length)]);
            return Room < buffer.Length ? throw new IOException("The disk is full.") : default;
        }
    }
}
