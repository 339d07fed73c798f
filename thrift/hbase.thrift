/* The part of HBase's second Thrift interface (thrift2, THBaseService) that this project uses.
 *
 * Field ids, types and call names are the interface; gateways accept messages without optional fields. Unused parts
 * are omitted. The Thrift compiler turns this file into C at build time: that code encodes the control calls, and the
 * tests compare the hand-written encoders with it, byte for byte. Replies are read by reply_reader.h, which explains
 * why. */

namespace c_glib Hbase

typedef binary Bytes

/* ---- rows ---- */

struct TTimeRange {
  1: required i64 minStamp, // inclusive, milliseconds
  2: required i64 maxStamp, // exclusive
}

struct TColumn {
  1: required Bytes family,
  2: optional Bytes qualifier, // absent: the whole family
  3: optional i64 timestamp,
}

struct TColumnValue {
  1: required Bytes family,
  2: required Bytes qualifier,
  3: required Bytes value,
  4: optional i64 timestamp, // absent: the region server's clock, which a replay would change; always sent here
}

struct TResult {
  1: optional Bytes row, // absent: no such row
  2: required list<TColumnValue> columnValues,
  3: optional bool stale,
  4: optional bool partial,
}

struct TGet {
  1: required Bytes row,
  2: optional list<TColumn> columns,
  3: optional i64 timestamp,
  4: optional TTimeRange timeRange,
  5: optional i32 maxVersions,
}

struct TPut {
  1: required Bytes row,
  2: required list<TColumnValue> columnValues,
  3: optional i64 timestamp,
  5: optional map<Bytes, Bytes> attributes, // "_ttl": 8 bytes big-endian, milliseconds
}

enum TDeleteType {
  DELETE_COLUMN = 0,
  DELETE_COLUMNS = 1,
  DELETE_FAMILY = 2, // all columns of the family, up to the timestamp
  DELETE_FAMILY_VERSION = 3,
}

struct TDelete {
  1: required Bytes row,
  2: optional list<TColumn> columns,
  3: optional i64 timestamp,
  4: optional TDeleteType deleteType = 1, // of every entry of columns
}

union TMutation {
  1: TPut put,
  2: TDelete deleteSingle,
}

struct TRowMutations { // applied as one
  1: required Bytes row, // the same as in each mutation
  2: required list<TMutation> mutations,
}

struct TScan {
  1: optional Bytes startRow, // inclusive
  2: optional Bytes stopRow,  // exclusive
  3: optional list<TColumn> columns,
  4: optional i32 caching, // rows the gateway fetches at once from a region server
  5: optional i32 maxVersions = 1,
  6: optional TTimeRange timeRange,
  7: optional Bytes filterString, // in the language of ParseFilter
  11: optional bool reversed,
  15: optional i32 limit,
}

/* ---- tables ---- */

struct TTableName {
  1: optional Bytes ns, // absent: "default"
  2: required Bytes qualifier,
}

enum TCompressionAlgorithm {
  LZO = 0,
  GZ = 1,
  NONE = 2,
  SNAPPY = 3,
  LZ4 = 4,
  BZIP2 = 5,
  ZSTD = 6,
}

enum TBloomFilterType {
  NONE = 0,
  ROW = 1,
  ROWCOL = 2,
  ROWPREFIX_FIXED_LENGTH = 3,
}

enum TDataBlockEncoding {
  NONE = 0,
  PREFIX = 2,
  DIFF = 3,
  FAST_DIFF = 4,
  ROW_INDEX_V1 = 7,
}

struct TColumnFamilyDescriptor {
  1: required Bytes name,
  4: optional i32 blockSize, // bytes
  5: optional TBloomFilterType bloomnFilterType,
  6: optional TCompressionAlgorithm compressionType,
  8: optional TDataBlockEncoding dataBlockEncoding,
  10: optional i32 maxVersions,
  13: optional i32 timeToLive, // seconds
  20: optional bool inMemory,
}

enum TDurability {
  USE_DEFAULT = 0,
  SKIP_WAL = 1,
  ASYNC_WAL = 2,
  SYNC_WAL = 3,
  FSYNC_WAL = 4,
}

struct TTableDescriptor {
  1: required TTableName tableName,
  2: optional list<TColumnFamilyDescriptor> columns,
  3: optional map<Bytes, Bytes> attributes,
  4: optional TDurability durability,
}

struct TNamespaceDescriptor {
  1: required string name,
}

/* ---- regions ---- */

struct THRegionInfo {
  1: required i64 regionId,
  2: required Bytes tableName,
  3: optional Bytes startKey, // empty: the table's first region
  4: optional Bytes endKey,   // empty: its last
  5: optional bool offline,
  6: optional bool split, // a parent that has been split: its daughters hold the rows
  7: optional i32 replicaId,
}

struct TServerName {
  1: required string hostName,
  2: optional i32 port,
  3: optional i64 startCode,
}

struct THRegionLocation {
  1: required TServerName serverName,
  2: required THRegionInfo regionInfo,
}

/* ---- errors, and the service ---- */

exception TIOError {
  1: optional string message,
  2: optional bool canRetry, // true for a missing table, too: not to be believed
}

exception TIllegalArgument {
  1: optional string message,
}

enum TThriftServerType {
  ONE = 1,
  TWO = 2,
}

service THBaseService {
  bool exists(1: required Bytes table, 2: required TGet tget) throws (1: TIOError io),
  TResult get(1: required Bytes table, 2: required TGet tget) throws (1: TIOError io),
  list<TResult> getMultiple(1: required Bytes table, 2: required list<TGet> tgets) throws (1: TIOError io),
  void putMultiple(1: required Bytes table, 2: required list<TPut> tputs) throws (1: TIOError io),
  bool checkAndPut(1: required Bytes table, 2: required Bytes row, 3: required Bytes family, 4: required Bytes qualifier,
      5: Bytes value, 6: required TPut tput) throws (1: TIOError io),
  void mutateRow(1: required Bytes table, 2: required TRowMutations trowMutations) throws (1: TIOError io),

  i32 openScanner(1: required Bytes table, 2: required TScan tscan) throws (1: TIOError io),
  list<TResult> getScannerRows(1: required i32 scannerId, 2: i32 numRows = 1)
      throws (1: TIOError io, 2: TIllegalArgument ia),
  void closeScanner(1: required i32 scannerId) throws (1: TIOError io, 2: TIllegalArgument ia),

  list<THRegionLocation> getAllRegionLocations(1: required Bytes table) throws (1: TIOError io),

  TTableDescriptor getTableDescriptor(1: required TTableName table) throws (1: TIOError io),
  bool tableExists(1: required TTableName tableName) throws (1: TIOError io),
  list<TTableName> getTableNamesByPattern(1: optional string regex, 2: required bool includeSysTables)
    throws (1: TIOError io),
  bool isTableEnabled(1: required TTableName tableName) throws (1: TIOError io),
  void createTable(1: required TTableDescriptor desc, 2: list<Bytes> splitKeys) throws (1: TIOError io),
  void disableTable(1: required TTableName tableName) throws (1: TIOError io),
  void deleteTable(1: required TTableName tableName) throws (1: TIOError io),
  void createNamespace(1: required TNamespaceDescriptor namespaceDesc) throws (1: TIOError io),
  list<string> listNamespaces() throws (1: TIOError io),

  TThriftServerType getThriftServerType(),
  string getClusterId(),
}
