// An NVTX tool for tests: writes each push and pop of the process to the file NVTX_RECORDER_FILE.
//
// A library named by NVTX_INJECTION64_PATH is loaded by the first NVTX call of a process, which then
// asks InitializeInjectionNvtx2 for its functions. No GPU, no driver.
// A line is "+ THREAD TEXT" or "- THREAD"; an empty push text is written as it is.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nvtx3/nvToolsExt.h"

static FILE *file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth;

static int Push(const char *text) {
  pthread_mutex_lock(&lock);
  fprintf(file, "+ %ld %s\n", (long)syscall(SYS_gettid), text);
  fflush(file);
  pthread_mutex_unlock(&lock);
  return depth++;
}

static int Pop(void) {
  pthread_mutex_lock(&lock);
  fprintf(file, "- %ld\n", (long)syscall(SYS_gettid));
  fflush(file);
  pthread_mutex_unlock(&lock);
  return --depth;
}

static const char *TextOf(const nvtxEventAttributes_t *event) {
  if (event == NULL) return "";
  // A registered string is its own text here: RegisterString below returns a copy of it.
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    return (const char *)event->message.registered;
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) return event->message.ascii;
  return "";
}

static int NVTX_API PushEx(const nvtxEventAttributes_t *event) { return Push(TextOf(event)); }
static int NVTX_API PushA(const char *text) { return Push(text); }
static int NVTX_API PopCore(void) { return Pop(); }

static int NVTX_API DomainPush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
  (void)domain;
  return Push(TextOf(event));
}

static int NVTX_API DomainPop(nvtxDomainHandle_t domain) {
  (void)domain;
  return Pop();
}

static nvtxDomainHandle_t NVTX_API CreateDomain(const char *name) {
  return (nvtxDomainHandle_t)strdup(name);
}

static nvtxStringHandle_t NVTX_API RegisterString(nvtxDomainHandle_t domain, const char *text) {
  (void)domain;
  return (nvtxStringHandle_t)strdup(text);
}

static void Set(NvtxFunctionTable table, unsigned int size, unsigned int at, void *function) {
  if (at < size && table[at] != NULL) *table[at] = (NvtxFunctionPointer)function;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const char *name = getenv("NVTX_RECORDER_FILE");
  file = name == NULL ? NULL : fopen(name, "a");
  const NvtxExportTableCallbacks *callbacks =
      (const NvtxExportTableCallbacks *)get_table(NVTX_ETID_CALLBACKS);
  if (file == NULL || callbacks == NULL) return 0;
  NvtxFunctionTable table = NULL;
  unsigned int size = 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
  Set(table, size, NVTX_CBID_CORE_RangePushEx, (void *)PushEx);
  Set(table, size, NVTX_CBID_CORE_RangePushA, (void *)PushA);
  Set(table, size, NVTX_CBID_CORE_RangePop, (void *)PopCore);
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  Set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, (void *)DomainPush);
  Set(table, size, NVTX_CBID_CORE2_DomainRangePop, (void *)DomainPop);
  Set(table, size, NVTX_CBID_CORE2_DomainCreateA, (void *)CreateDomain);
  Set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, (void *)RegisterString);
  return 1;
}
